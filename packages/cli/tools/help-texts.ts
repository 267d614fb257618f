// Prints the help of every svc command as JSON, for the reference documentation.
import { homedir } from 'node:os'
import { Readable, Writable } from 'node:stream'
import type { Command } from 'commander'
import { createProgram } from '../src/program.ts'

let output = ''
const stdout = new Writable({
  write: (chunk: Buffer, _encoding, done) => {
    output += chunk.toString()
    done()
  },
})

/** Collects the help of every command that has no subcommands. */
function collectHelp(command: Command, words: readonly string[], texts: Record<string, string>): void {
  for (const subcommand of command.commands) collectHelp(subcommand, [...words, subcommand.name()], texts)
  if (command.commands.length > 0) return
  output = ''
  command.outputHelp()
  texts[words.join(' ')] = output.trim()
}

const texts: Record<string, string> = {}
const terminal = {
  env: {},
  home: homedir(),
  cwd: process.cwd(),
  stdin: Readable.from([]),
  stdout,
  stderr: stdout,
  signal: new AbortController().signal,
  hostname: 'host',
}
collectHelp(await createProgram(terminal), ['svc'], texts)
process.stdout.write(JSON.stringify(texts))
