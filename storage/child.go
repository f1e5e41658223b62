package storage

// ChildFD is the descriptor at which the child process finds its socket.
const ChildFD = 3
