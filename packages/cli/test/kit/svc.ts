// Runs svc, in this process for most tests and as a child process for the rest.
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { PassThrough, Writable } from 'node:stream'
import { afterAll, beforeAll } from 'vitest'
import { createToken } from '@manager/harness/credentials.ts'
import { useProject } from '../../../manager/test/kit/project.ts'
import { run } from '../../src/run.ts'
import type { Output, Terminal } from '../../src/terminal.ts'
import { type Proxy, startProxy } from './proxy.ts'

export type Ended = { code: number; out: string; err: string }
export type SvcOptions = {
  env?: Record<string, string>
  /** The working folder. The default is the home folder. */
  cwd?: string
  /** The standard input: its text, or a stream that the test writes to. */
  input?: string | PassThrough
  isTerminal?: boolean
  signal?: AbortSignal
  onErr?: (text: string) => void
  onOut?: (text: string) => void
  /** The width of the terminal. */
  columns?: number
}
const program = new URL('../../src/svc.ts', import.meta.url).pathname

function collector(isTerminal: boolean, onText: (text: string) => void = () => undefined) {
  let text = ''
  const output: Output = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      text += chunk.toString('utf8')
      onText(text)
      done()
    },
  })
  if (isTerminal) output.isTTY = true
  return { output, text: () => text }
}

/** Runs a command line in this process, with this home folder. */
export async function svcAt(home: string, args: readonly string[], options: SvcOptions = {}): Promise<Ended> {
  const { isTerminal = false, input } = options
  const [out, err] = [collector(isTerminal, options.onOut), collector(isTerminal, options.onErr)]
  if (options.columns !== undefined) out.output.columns = options.columns
  const stdin: PassThrough & Terminal['stdin'] = input instanceof PassThrough ? input : new PassThrough()
  if (isTerminal) stdin.isTTY = true
  if (stdin !== input) stdin.end(input)
  const code = await run(args, {
    env: options.env ?? {},
    home,
    cwd: options.cwd ?? home,
    stdin,
    stdout: out.output,
    stderr: err.output,
    signal: options.signal ?? new AbortController().signal,
    hostname: 'laptop',
  })
  return { code, out: out.text(), err: err.text() }
}

/** Runs svc as a child process. With `isTerminal`, it gets its own pseudo-terminal. */
export function spawnSvc(
  args: readonly string[],
  { env = {}, isTerminal = false, cwd }: Pick<SvcOptions, 'env' | 'isTerminal' | 'cwd'> = {},
): ChildProcess & { ended: Promise<Ended> } {
  const options = { cwd, env: { PATH: process.env['PATH'] ?? '', TERM: 'xterm', ...env } }
  const quoted = [process.execPath, program, ...args].map((word) => `'${word}'`).join(' ')
  const child = isTerminal
    ? spawn('script', ['-qfec', quoted, '/dev/null'], options)
    : spawn(process.execPath, [program, ...args], options)
  let [out, err] = ['', '']
  child.stdout?.on('data', (chunk: Buffer) => (out += chunk.toString('utf8')))
  child.stderr?.on('data', (chunk: Buffer) => (err += chunk.toString('utf8')))
  const ended = new Promise<Ended>((resolve) =>
    child.once('close', (code, signal) => resolve({ code: code ?? (signal === null ? -1 : -2), out, err })),
  )
  return Object.assign(child, { ended })
}

/** A folder that is removed after the tests in the file. */
export function useFolder(): { path: string } {
  const folder = { path: '' }
  beforeAll(() => {
    folder.path = mkdtempSync(path.join(tmpdir(), 'svc-test-'))
  })
  afterAll(() => rmSync(folder.path, { recursive: true, force: true }))
  return folder
}

/**
 * Starts a service behind a proxy with the project `main`, and returns `svc` with the token of an
 * administrator.
 */
export function useSvc(options: Parameters<typeof useProject>[0] = {}) {
  const kit = useProject(options)
  const folder = useFolder()
  const env: Record<string, string> = {}
  const proxy = {} as Proxy
  beforeAll(async () => {
    Object.assign(proxy, await startProxy(kit.service.url))
    const { token } = await createToken(kit.service, kit.admin)
    Object.assign(env, { SVC_URL: proxy.url, SVC_TOKEN: token })
  })
  afterAll(() => proxy.close())
  const svc = (args: readonly string[], more: SvcOptions = {}): Promise<Ended> =>
    svcAt(folder.path, args, { ...more, env: { ...env, ...more.env } })
  /** Runs svc and returns its JSON output. Throws if svc fails. */
  const json = async (args: readonly string[]): Promise<unknown> => {
    const { code, out, err } = await svc([...args, '--output', 'json'])
    if (code !== 0) throw new Error(`svc ${args.join(' ')}: ${code} ${err}`)
    return JSON.parse(out)
  }
  return { ...kit, proxy, env, folder, svc, json }
}
