"""Work that goes on beside the screen: the compile thread and the measuring process."""
