// TaskSchedulerWire
