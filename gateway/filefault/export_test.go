package filefault

// HeldOn is [Held] on a system.
var HeldOn = heldOn
