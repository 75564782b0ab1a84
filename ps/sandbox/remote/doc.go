// Package remote runs sessions for other processes, in the process with the stores: a process is a pipe to
// its session. It also runs the commands of a real PowerShell, whose process runs the scripts itself.
//
// # Tour
//
//   - [Server] listens on loopback and serves a world
//   - [Engine] is the main function of a stand-in process, a pipe between its standard
//     streams and a session (session.go)
//   - [Starter] starts such processes, each with its own key
//   - call.go runs the commands of a real PowerShell; value.go and decode.go convert
//     their values to and from JSON
//   - [Domain] is a server that holds one world for the gateways of several processes,
//     [Link] a gateway's end of it; [Orders] are for tests
//
// # The protocol
//
// A client connects to the TCP address of the server and sends frames: four bytes, big-endian, with the
// length of what follows, then a JSON object whose member "f" is the kind of frame. A frame has at most
// [MaxFrame] bytes. The first frame has a key, which is valid for one connection. The server answers with
// welcome {}, or closes the connection. A pipe begins with session:
//
//	client  session  {key, args, pid}             PowerShell's arguments and the ID of the process
//	server  read     {}                           the session reads its input
//	client  in       {data}                       input; no data is its end
//	server  out      {data}, err {data}           output
//	server  alive    {}                           a command is about to reach a controller
//	client  alive    {}                           the process still runs: the command goes on
//	server  exit     {code}                       the session has ended
//
// So a process that is suspended or killed stops its session at the same places as PowerShell: at its next
// command, output or input. When the connection closes, the server cancels the session and the process exits.
//
// A real PowerShell begins with hello. Its connection runs one call at a time:
//
//	client  hello    {key}
//	client  call     {cmdlet, set, bound: [{name, value}], release: [id]}
//	client  new      {type, bound: values, release}      creates an object that stays at the server
//	client  get      {id, name}, set {id, name, value}, invoke {id, name, bound: values}
//	server  write    {values}                     any number
//	server  warning  {text}, verbose {text}
//	server  error    {record}                     non-terminating error; waits for an answer
//	server  ask      {text}                       ShouldProcess for a target; waits for an answer
//	client  answer   {ok}                         to error: continue; to ask: proceed
//	server  throw    {record}                     the call ended with a terminating error
//	server  defect   {text}                       the call ended with an error other than a PowerShell error
//	server  end      {values}                     the call succeeded; after get, new and invoke with the result
//
// The server closes the connection after a wrong key, an unknown frame or a frame out of turn. When the
// connection closes, the server cancels its running call.
//
// # A domain for several gateways
//
// A [Domain] also accepts connections that begin with a question {question: {secret, protocol, version,
// gateway, account, clock, op, ...}}. It answers with reply {reply}, or with reply {reply: {refused, text}}.
// The ops of a gateway are:
//
//	join      -> world, guest           the connection stays open as long as the gateway runs
//	key       guest -> key              for one session of this gateway
//	reach     name: address -> ok       whether a controller answers there
//	example   -> example                a user and a zone
//	logon     name, password -> person; refused: logon, change or expired
//	lookup    name -> person
//	account   name: SID -> person
//
// Unused keys become invalid when the connection of the gateway ends. The commands of a session run with the
// modules of its gateway, because ADWS counts connections per account (facts D19), and times are relative to
// the clock in the question.
//
// A test has a different secret and only one op, order, with the words of an [Order] and its result. Every
// write is in the log.
//
// # Values
//
// null, booleans and texts are JSON values; an integer is an Int32. Everything else is an object
// {"t": kind, "n": name of a type, "v": ...}:
//
//	long byte sbyte short ushort uint ulong double    v: the number as text
//	units     v: the UTF-16 units of a text that is not valid UTF-8
//	datetime  v: [ticks as text, kind]     timespan  v: ticks as text
//	guid      v: "xxxxxxxx-xxxx-..."       bytes     v: base64
//	array     n: element type, v: [values]
//	table     n: type, v: [key, value, key, value ...]
//	instance  n: type, x: its text, v: [name, value ...], id: what the server keeps for it
//	parsed    n: type, v: the text to pass to the type's constructor
//	secret    v: base64 of the UTF-8 of a SecureString
//
// Only parameters have credential, v: [user name, secret]. Only results have these:
//
//	version   v: "1.2.3.4"                 enum      n: type, v: the number as text
//	list      n: type, v: [values]
//	remote    n: type, id: an object at the server
//	exception n: type, v: [message, HResult, inner exception, name, value, ...]
//	record    v: [exception, error id, category, target, reason, details]
//
// The id of an instance refers to data that the server keeps for the instance, such as the controller from
// which it was read. The client returns the id together with the instance. Ids that the client no longer uses
// are in the release of its next call.
//
// The functions of a real PowerShell (package ps/sandbox/proxies) convert instances to objects and return
// them with their id. PowerShell's JSON parser converts texts that look like dates (facts B31). Therefore
// every text that the server sends begins with '='. This applies to values, x, v of parsed and the text of
// frames.
package remote
