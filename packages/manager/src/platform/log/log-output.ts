// Writes log lines to standard output without blocking requests. Lines are buffered in memory and written in batches,
// because one write per line costs more than creating the line. At most one write is in flight. If the reader of a pipe
// pauses until the buffer is full, request lines are dropped and counted. A log reader must not be able to stop the
// service.
import { write, writeSync } from 'node:fs'
import { Socket } from 'node:net'
import type { DestinationStream } from 'pino'

/** A pino destination that can be flushed. */
export type LogOutput = DestinationStream & {
  /** Calls `done` once: when all buffered lines are written, or after 1 s. */
  flush(done: () => void): void
}
type Sink = (text: string, done: (error?: Error | null) => void) => void

const bufferLength = 4 * 1_048_576
// Reserved for lines other than request lines: audit trail checkpoints, errors, startup and shutdown.
const reservedLength = 1_048_576
const batchLength = 65_536
const writeEveryMs = 100
const flushTimeoutMs = 1_000
const standardOutput = 1

/** The end of every request line. No other line ends like this, and escaping keeps values from imitating it. */
export const requestLineEnd = '"msg":"request"}\n'

/** Creates the output to standard output; `formatDroppedNotice` formats the line that reports dropped lines. */
export function createLogOutput(options: {
  onDropped: (count: number) => void
  formatDroppedNotice: (count: number) => string
}): LogOutput {
  const sink = standardOutputSink()
  // The length includes the lines in flight: the reader has not consumed them yet.
  let [lines, length]: [string[], number] = [[], 0]
  let [isWriting, dropped] = [false, 0]
  let waiting: (() => void)[] = []
  const drop = (count: number): void => {
    dropped += count
    options.onDropped(count)
  }
  const writeBatch = (): void => {
    if (isWriting) return
    const reported = length > bufferLength / 2 ? 0 : dropped
    const batch = lines.splice(0, countOf(lines))
    if (batch.length === 0 && reported === 0) return settle()
    const text = batch.join('')
    isWriting = true
    sink(reported === 0 ? text : options.formatDroppedNotice(reported) + text, (error) => {
      isWriting = false
      length -= text.length
      const hasFailed = error instanceof Error
      if (hasFailed) drop(batch.length)
      else dropped -= reported
      if (length >= batchLength || (waiting.length > 0 && !hasFailed)) writeBatch()
      else if (hasFailed) settle()
    })
  }
  const settle = (): void => {
    const done = waiting
    waiting = []
    for (const call of done) call()
  }
  setInterval(writeBatch, writeEveryMs).unref()
  process.on('exit', () => {
    // A write in flight waits for a reader that does not read. Writing now would put the lines out of order.
    if (!isWriting) writeUntilFull(lines.join(''))
  })
  return {
    write: (line) => {
      const room = line.endsWith(requestLineEnd) ? bufferLength : bufferLength + reservedLength
      if (length + line.length > room) return drop(1)
      lines.push(line)
      length += line.length
      if (length >= batchLength) writeBatch()
    },
    flush: (done) => {
      const finish = (): void => {
        clearTimeout(timer)
        waiting = waiting.filter((other) => other !== finish)
        done()
      }
      const timer = setTimeout(finish, flushTimeoutMs)
      waiting.push(finish)
      writeBatch()
    },
  }
}

/** Returns the number of lines in the next batch. */
function countOf(lines: readonly string[]): number {
  let [count, size] = [0, 0]
  while (count < lines.length && size < batchLength) size += lines[count++]?.length ?? 0
  return count
}

/**
 * Writes to pipes and sockets through the event loop: in the thread pool, a paused reader would block a thread forever.
 * Files and terminals can only be written in the thread pool. After the reader has closed the pipe (EPIPE), every write
 * fails.
 */
function standardOutputSink(): Sink {
  const { stdout } = process
  if (!(stdout instanceof Socket) || stdout.isTTY) return writeToFile
  stdout.on('error', () => undefined)
  return (text, done) =>
    // A failed stream would keep further writes in memory forever.
    stdout.errored === null ? void stdout.write(text, done) : process.nextTick(done, stdout.errored)
}

function writeToFile(text: string, done: (error?: Error | null) => void): void {
  const bytes = Buffer.from(text)
  const writeFrom = (offset: number): void =>
    write(standardOutput, bytes, offset, (error, count) =>
      error !== null || offset + count === bytes.length ? done(error) : writeFrom(offset + count),
    )
  writeFrom(0)
}

/** Writes at process exit until the pipe is full, and does not wait for the reader. */
function writeUntilFull(text: string): void {
  const bytes = Buffer.from(text)
  try {
    for (let offset = 0; offset < bytes.length;) offset += writeSync(standardOutput, bytes, offset)
  } catch {
    // The pipe is full or closed.
  }
}
