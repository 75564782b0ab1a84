// Package remote runs scripts and the commands that they call in different processes: the script's process
// binds the parameters, and the process with the stores runs the commands.
//
// # Tour
//
//   - [Server] listens on loopback and runs calls over the modules it is given
//   - [Client] is the other end: its Modules have the same commands, which forward
//     their calls
//   - [Engine] is the main function of a stand-in process: the sandbox's console
//     host on real standard streams, with the modules of a Client
//   - [Starter] starts such processes, each with its own key
//   - [Domain] is a server that holds one world for the gateways of several processes,
//     [Link] a gateway's end of it, [Orders] that of a test
//   - value.go and decode.go convert values of the engine to and from JSON
//
// # The protocol
//
// A client connects to the TCP address of the server and sends frames: four bytes, big-endian, with the
// length of what follows, then a JSON object whose member "f" is the kind of frame. A frame has at most
// [MaxFrame] bytes. A connection runs one call at a time.
//
//	client  hello    {key, marked}                first and only once; a key is valid for one connection
//	server  welcome  {culture, now, modules: [{name, version, types: [name]}]}
//	client  call     {cmdlet, set, bound: [{name, value}], release: [id]}
//	client  new      {type, bound: values, release}      creates an object that stays at the server
//	client  get      {id, name}, set {id, name, value}, invoke {id, name, bound: values}
//	server  write    {values}                     any number
//	server  warning  {text}, verbose {text}
//	server  error    {record}                     non-terminating error; waits for an answer
//	server  ask      {text}                       ShouldProcess for a target; waits for an answer
//	client  answer   {ok}                         to error: continue; to ask: proceed
//	client  stop     {}                           ends the call: its output is no longer needed
//	server  throw    {record}                     the call ended with a terminating error
//	server  defect   {text}                       the call ended with an error other than a PowerShell error
//	server  end      {values}                     the call succeeded; after get, new and invoke with the result
//
// The server closes the connection after a wrong key, an unknown frame or a frame out of turn. When the
// connection closes, the server cancels its running call and the client's process exits.
//
// # A domain for several gateways
//
// A [Domain] accepts two more kinds of connections. The control connection of a gateway stays open as long as
// the gateway runs, and carries one question at a time. An answer has the id of its question.
//
//	gateway  ticket   {ticket: {secret, protocol, version, gateway, account, clock}}
//	domain   granted  {key: id of the world, text: version}, or refused {name, text}
//	gateway  issue    {id}                 domain  key {id, key}     for one session of this gateway
//	gateway  reach    {id, name: address}  domain  answer {id, ok}   whether a controller answers there
//	gateway  example  {id}                 domain  example {id, name: user, text: zone}
//	gateway  logon    {id, name, text: password}, lookup {id, name}, account {id, name: SID}
//	domain   person   {id, person}, or refused {id, name: logon, change or expired, text}
//
// Unused keys become invalid when the connection ends. The commands of a session run with the modules of its
// gateway, because ADWS counts connections per account (facts D19), and times are relative to the clock in
// the ticket.
//
// The connection of a test begins with orders {ticket: {secret, protocol}}, with a different secret. Then the
// test sends order {id, order}, and the domain answers done {id, outcome} or refused {id, text}. See [Order]
// for the orders. Every write is in the log.
//
// # Values
//
// null, booleans and valid UTF-8 texts are JSON values; an integer is an Int32. Everything else is an
// object {"t": kind, "n": name of a type, "v": ...}:
//
//	long byte sbyte short ushort uint ulong double single decimal bigint   v: the number as text
//	text      v: base64 of a text that is not valid UTF-8 (lone surrogates as in WTF-8)
//	units     v: the UTF-16 units of a text
//	char      v: the UTF-16 unit       version   v: "1.2.3.4"       type   n: its name
//	datetime  v: [ticks as text, kind] timespan  v: ticks as text   guid   v: "xxxxxxxx-xxxx-..."
//	bytes     v: base64                enum      n: type, v: the number as text
//	array     n: element type, v: [values]; list, set: n: type, v: [values]
//	table     n: type, v: [key, value, key, value ...]
//	object    n: names of types joined by line feeds, v: [name, value, name, value ...]
//	instance  n: type, x: its text, v: [name, value ...], id: what the server keeps for it
//	parsed    n: type, v: the text to pass to the type's constructor
//	remote    n: type, id: an object at the server
//	secret    v: base64 of the UTF-8 of a SecureString; credential v: [user name, secret]
//	exception n: type, v: [message, HResult, inner exception, name, value, ...]
//	record    v: [exception, error id, category, target, reason, details]
//
// The id of an instance refers to data that the server keeps for the instance, such as the controller from
// which it was read. The client returns the id together with the instance. Ids that the client no longer uses
// are in the release of its next call.
//
// The proxies of a real PowerShell (package ps/sandbox/proxies) use the same frames; they convert instances
// to objects and return them with their id. Their JSON parser converts texts that look like dates (facts
// B31). Therefore, if hello has marked, every text that the server sends begins with '='. This applies to
// values, x, v of parsed and the text of frames. A text that is not valid UTF-8 is sent as units.
package remote
