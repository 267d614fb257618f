// Log lines as a person reads them, in `npm run dev` on a terminal. The service itself always writes JSON.
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { prettyFactory } from 'pino-pretty'

/** Writes every line of the log in its short form; a line that is not of the log stays as it is. */
export function printPretty(log: Readable, terminal: Writable, colorize: boolean): void {
  const options = { colorize, singleLine: true, ignore: 'pid', translateTime: 'SYS:HH:MM:ss.l' }
  const format = prettyFactory(options)
  createInterface({ input: log }).on('line', (line) => void terminal.write(format(line)))
}
