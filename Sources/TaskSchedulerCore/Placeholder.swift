// TaskSchedulerCore
