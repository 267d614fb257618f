// Formats log lines for people when `npm run dev` runs in a terminal. The service itself always writes JSON.
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { prettyFactory } from 'pino-pretty'

/** Prints every log line in short form, and lines that are not JSON unchanged. */
export function printPretty(log: Readable, terminal: Writable, colorize: boolean): void {
  const options = { colorize, singleLine: true, ignore: 'pid', translateTime: 'SYS:HH:MM:ss.l' }
  const format = prettyFactory(options)
  createInterface({ input: log }).on('line', (line) => void terminal.write(format(line)))
}
