// Package remote lets the commands of a module run in another process than the
// script that calls them: the process of the script binds the parameters, the
// process that holds the stores runs the bodies.
//
// # Tour
//
//   - [Server] listens on loopback and runs calls over the modules it is given
//   - [Client] is the other end: its Modules look like the server's, but each
//     command forwards its call
//   - [Engine] is the life of a stand-in process: the sandbox's console host on
//     real standard streams, with the modules of a Client
//   - [Starter] starts such processes, each with a key of its own
//   - value.go, decode.go: values of the engine as JSON; fault.go: processes that fail on purpose
//
// # The protocol
//
// A client connects to the TCP address of the server and sends frames: four
// bytes, big-endian, the length of what follows; then a JSON object with the
// member "f" that says which frame it is. A frame is at most [MaxFrame] bytes
// long. One call runs at a time on a connection.
//
//	client  hello    {key, marked}                first, once; the key is good for one connection
//	server  welcome  {culture, now, modules: [{name, version, types: [name]}]}
//	client  call     {cmdlet, set, bound: [{name, value, piped}], release: [id]}
//	client  new      {type, bound: values, release}      an object of a type that lives at the server
//	client  get      {id, name}, set {id, name, value}, invoke {id, name, bound: values}
//	server  write    {values}                     any number
//	server  warning  {text}, verbose {text}
//	server  error    {record}                     not terminating; waits for an answer
//	server  ask      {text}                       ShouldProcess for a target; waits for an answer
//	client  answer   {ok}                         to error: go on; to ask: act
//	client  stop     {}                           the call shall end: nobody wants more of it
//	server  throw    {record}                     the call ended with a terminating error
//	server  defect   {text}                       the call ended with an error that is no PowerShell error
//	server  end      {values}                     the call ended well; of get, new, invoke with the result
//
// A wrong key, an unknown frame or a frame out of turn closes the connection.
// When the connection closes, calls under way are cancelled at the server and
// the client's process ends.
//
// # Values
//
// null, booleans and texts of valid UTF-8 are JSON's own; a whole number is an
// Int32. All else is an object {"t": kind, "n": name of a type, "v": ...}:
//
//	long byte sbyte short ushort uint ulong double single decimal bigint   v: the number as text
//	text      v: base64 of a text that is no valid UTF-8 (lone surrogates as in WTF-8)
//	units     v: the UTF-16 units of a text
//	char      v: the UTF-16 unit       version   v: "1.2.3.4"       type   n: its name
//	datetime  v: [ticks as text, kind] timespan  v: ticks as text   guid   v: "xxxxxxxx-xxxx-..."
//	bytes     v: base64                enum      n: type, v: the number as text
//	array     n: element type, v: [values]; list, set: n: type, v: [values]
//	table     n: type, c: comparer, v: [key, value, key, value ...]
//	object    n: names of types joined by line feeds, v: [name, value, name, value ...]
//	instance  n: type, x: its text, v: [name, value ...], id: what the server keeps for it
//	parsed    n: type, v: a text from which the type's constructor makes the object
//	remote    n: type, id: an object that lives at the server
//	secret    v: base64 of the UTF-8 of a SecureString; credential v: [user name, secret]
//	exception n: type, v: [message, HResult, inner exception, name, value, ...]
//	record    v: [exception, error id, category, target, reason, details]
//
// What the server keeps for an instance (where it was read from) comes back
// with the id when the client passes the instance on. The client names the ids
// that it has lost in release of its next call.
//
// The proxies of a real PowerShell (package ps/sandbox/proxies) speak the same
// frames; they make objects of instances and give them back with their id.
// Their JSON reader takes texts that look like dates for dates (facts B31): with
// marked in hello all texts the server sends begin with '=': values, x, v of
// parsed, text of frames; one that is no valid UTF-8 comes as units.
package remote
