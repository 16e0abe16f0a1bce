// TaskSchedulerClient
