import CSystemd
import Glibc
import LinuxSystem

/// A call by another program to an object that a ``MessageBus`` serves. The handler must read the
/// call before it returns.
package struct BusCallToServe {
  private let message: OpaquePointer

  init(_ message: OpaquePointer) {
    self.message = message
  }

  /// The unique name of the caller, which the bus vouches for.
  package var sender: String? { arguments.sender }

  /// The name of the called interface; nil if the caller names none.
  package var interface: String? { arguments.interface }

  /// The name of the called method.
  package var member: String { arguments.member ?? "" }

  package func isCall(of interface: String, _ member: String) -> Bool {
    sd_bus_message_is_method_call(message, interface, member) > 0
  }

  /// The arguments.
  package var arguments: MessageReader { MessageReader(message) }
}

/// The reply to a call that another program makes.
package enum BusReply {
  /// A reply with the values that the function appends.
  case values((MessageBody) throws(SystemError) -> Void)
  case error(BusError)

  /// A reply without values.
  package static var empty: BusReply { .values { _ throws(SystemError) in } }

  /// Sends the reply, unless the caller expects none.
  ///
  /// - Returns: 1, or a negated errno. In case of an errno, sd-bus replies with an error.
  func send(to call: OpaquePointer) -> Int32 {
    guard sd_bus_message_get_expect_reply(call) > 0 else { return 1 }
    switch self {
    case .values(let append):
      do throws(SystemError) {
        try Self.send(append, to: call)
        return 1
      } catch {
        return -error.errno
      }
    case .error(let error):
      let result = error.name.withCString { name in
        error.text.withCString { text in
          var failure = sd_bus_error(name: name, message: text, _need_free: 0)
          return sd_bus_reply_method_error(call, &failure)
        }
      }
      return result < 0 ? result : 1
    }
  }

  private static func send(
    _ append: (MessageBody) throws(SystemError) -> Void, to call: OpaquePointer
  ) throws(SystemError) {
    var reply: OpaquePointer?
    try check("sd_bus_message_new_method_return", sd_bus_message_new_method_return(call, &reply))
    guard let reply else { throw SystemError(call: "sd_bus_message_new", errno: ENOMEM) }
    defer { sd_bus_message_unref(reply) }
    try append(MessageBody(reply))
    try check("sd_bus_send", sd_bus_send(sd_bus_message_get_bus(call), reply, nil))
  }
}
