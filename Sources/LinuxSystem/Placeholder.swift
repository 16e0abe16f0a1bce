// LinuxSystem
