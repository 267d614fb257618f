// Where log lines go: standard output, which no request waits for. Lines gather in memory, are written many at a time
// (one write per line costs more than making it), and at most one write is in flight. When the reader of a pipe pauses,
// the lines of requests are dropped once the buffer is full, and counted: a reader of the log must not be able to stop
// the service.
import { write, writeSync } from 'node:fs'
import { Socket } from 'node:net'
import type { DestinationStream } from 'pino'

export type LogOutput = DestinationStream & {
  /** Calls back when all lines so far are written, or when that takes longer than a second. */
  flush(done: () => void): void
}
type Sink = (text: string, done: (error?: Error | null) => void) => void

const bufferLength = 4 * 1_048_576
// For everything that is not the line of a request: checkpoints of the audit trail, errors, start and stop.
const reservedLength = 1_048_576
const batchLength = 65_536
const writeEveryMs = 100
const flushTimeoutMs = 1_000
const standardOutput = 1

/** How the line of a request ends; no other line ends so, and no value in a line can. */
export const requestLineEnd = '"msg":"request"}\n'

/** Lines to standard output; `noticeOf` makes the line that tells how many were dropped. */
export function createLogOutput(options: {
  onDropped: (count: number) => void
  noticeOf: (count: number) => string
}): LogOutput {
  const sink = standardOutputSink()
  // The length counts lines that are being written too: the reader has not taken them yet.
  let [lines, length]: [string[], number] = [[], 0]
  let [isWriting, dropped] = [false, 0]
  let waiting: (() => void)[] = []
  const drop = (count: number): void => {
    dropped += count
    options.onDropped(count)
  }
  const writeBatch = (): void => {
    if (isWriting) return
    const told = length > bufferLength / 2 ? 0 : dropped
    const batch = lines.splice(0, countOf(lines))
    if (batch.length === 0 && told === 0) return settle()
    const text = batch.join('')
    isWriting = true
    sink(told === 0 ? text : options.noticeOf(told) + text, (error) => {
      isWriting = false
      length -= text.length
      const hasFailed = error instanceof Error
      if (hasFailed) drop(batch.length)
      else dropped -= told
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
    // Behind a write in flight nothing can be written in order; it waits for a reader that does not read.
    if (!isWriting) writeWhatFits(lines.join(''))
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
      const timer = setTimeout(done, flushTimeoutMs)
      waiting.push(() => {
        clearTimeout(timer)
        done()
      })
      writeBatch()
    },
  }
}

/** How many lines make a batch. */
function countOf(lines: readonly string[]): number {
  let [count, size] = [0, 0]
  while (count < lines.length && size < batchLength) size += lines[count++]?.length ?? 0
  return count
}

/**
 * A pipe or a socket is written through the event loop: in the thread pool, one paused reader would hold a thread
 * forever. Files and terminals have no other way. When the reader is gone (EPIPE), every write fails.
 */
function standardOutputSink(): Sink {
  const { stdout } = process
  if (!(stdout instanceof Socket) || stdout.isTTY) return writeToFile
  stdout.on('error', () => undefined)
  return (text, done) =>
    // A stream that has failed would keep what it is given forever.
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

/** At the end of the process: what the reader accepts at once; a full pipe is not waited for. */
function writeWhatFits(text: string): void {
  const bytes = Buffer.from(text)
  try {
    for (let offset = 0; offset < bytes.length;) offset += writeSync(standardOutput, bytes, offset)
  } catch {
    // No reader.
  }
}
