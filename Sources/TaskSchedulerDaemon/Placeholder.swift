// TaskSchedulerDaemon
