// Prints the help of every command of svc as JSON, for the reference.
import { homedir } from 'node:os'
import { Readable, Writable } from 'node:stream'
import type { Command } from 'commander'
import { createProgram } from '../src/program.ts'

let printed = ''
const stdout = new Writable({
  write: (chunk: Buffer, _encoding, done) => {
    printed += chunk.toString()
    done()
  },
})

/** Collects the help of every command without subcommands. */
function readHelp(command: Command, words: readonly string[], texts: Record<string, string>): void {
  for (const inner of command.commands) readHelp(inner, [...words, inner.name()], texts)
  if (command.commands.length > 0) return
  printed = ''
  command.outputHelp()
  texts[words.join(' ')] = printed.trim()
}

const texts: Record<string, string> = {}
const terminal = {
  env: {},
  home: homedir(),
  stdin: Readable.from([]),
  stdout,
  stderr: stdout,
  signal: new AbortController().signal,
  hostname: 'host',
}
readHelp(createProgram(terminal), ['svc'], texts)
process.stdout.write(JSON.stringify(texts))
