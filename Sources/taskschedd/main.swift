print("taskschedd")
