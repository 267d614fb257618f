// WebSocket frames that are built once and written to any number of sockets.
import * as ws from 'ws'

/** A text message with its WebSocket header, ready to be written to a socket. */
export type Frame = Buffer

type FrameOptions = { fin: boolean; opcode: number; mask: boolean; readOnly: boolean; rsv1: boolean }
// The package exports Sender, but its types do not include it.
const { Sender } = ws as unknown as {
  Sender: { frame(data: Buffer, options: FrameOptions): Buffer[] }
}
const textFrameOptions = { fin: true, opcode: 1, mask: false, readOnly: true, rsv1: false }

/**
 * Returns the frame of a text message. Servers do not mask frames, so the frame is the same for every socket.
 */
export const prepareFrame = (message: string): Frame =>
  Buffer.concat(Sender.frame(Buffer.from(message), textFrameOptions))
