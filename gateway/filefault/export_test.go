package filefault

// HeldOn is [Held] for a given operating system.
var HeldOn = heldOn
