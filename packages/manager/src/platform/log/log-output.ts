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
const writeIntervalMs = 100
const flushTimeoutMs = 1_000
const standardOutput = 1

/** The end of every request line. No other line ends with it, and escaping prevents values from imitating it. */
export const requestLineEnd = '"msg":"request"}\n'

/** Creates the output to standard output; `formatDroppedNotice` formats the line that reports dropped lines. */
export function createLogOutput(options: {
  onDropped: (count: number) => void
  formatDroppedNotice: (count: number) => string
}): LogOutput {
  const sink = createStandardOutputSink()
  // This length includes the lines in flight: the reader has not consumed them yet.
  let [lines, length]: [string[], number] = [[], 0]
  let [isWriting, droppedCount] = [false, 0]
  let flushCallbacks: (() => void)[] = []
  const drop = (count: number): void => {
    droppedCount += count
    options.onDropped(count)
  }
  const writeBatch = (): void => {
    if (isWriting) return
    const reportedCount = length > bufferLength / 2 ? 0 : droppedCount
    const batch = lines.splice(0, countBatchLines(lines))
    if (batch.length === 0 && reportedCount === 0) return runFlushCallbacks()
    const text = batch.join('')
    isWriting = true
    sink(reportedCount === 0 ? text : options.formatDroppedNotice(reportedCount) + text, (error) => {
      isWriting = false
      length -= text.length
      const hasFailed = error instanceof Error
      if (hasFailed) drop(batch.length)
      else droppedCount -= reportedCount
      if (length >= batchLength || (flushCallbacks.length > 0 && !hasFailed)) writeBatch()
      else if (hasFailed) runFlushCallbacks()
    })
  }
  const runFlushCallbacks = (): void => {
    const callbacks = flushCallbacks
    flushCallbacks = []
    for (const callback of callbacks) callback()
  }
  setInterval(writeBatch, writeIntervalMs).unref()
  process.on('exit', () => {
    // If a write is in flight, the reader has paused, and another write would put the lines out of order.
    if (!isWriting) writeUntilFull(lines.join(''))
  })
  return {
    write: (line) => {
      const maxLength = line.endsWith(requestLineEnd) ? bufferLength : bufferLength + reservedLength
      if (length + line.length > maxLength) return drop(1)
      lines.push(line)
      length += line.length
      if (length >= batchLength) writeBatch()
    },
    flush: (done) => {
      const finish = (): void => {
        clearTimeout(timer)
        flushCallbacks = flushCallbacks.filter((other) => other !== finish)
        done()
      }
      const timer = setTimeout(finish, flushTimeoutMs)
      flushCallbacks.push(finish)
      writeBatch()
    },
  }
}

/** Returns the number of lines in the next batch. */
function countBatchLines(lines: readonly string[]): number {
  let [count, size] = [0, 0]
  while (count < lines.length && size < batchLength) size += lines[count++]?.length ?? 0
  return count
}

/**
 * Writes to pipes and sockets through the event loop: in the thread pool, a paused reader would block a thread forever.
 * Files and terminals can only be written in the thread pool. After the reader has closed the pipe (EPIPE), every write
 * fails.
 */
function createStandardOutputSink(): Sink {
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
