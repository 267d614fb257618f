// `npm run dev` and `npm run demo` as people run them, with a folder and ports of their own.
import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { freePort } from '@manager/harness/engines/postgres.ts'

const program = new URL('../../tools/dev.ts', import.meta.url).pathname
const root = new URL('../../../../', import.meta.url).pathname

type Claim = { children: { pid: number }[] }

export type DevRun = {
  child: ChildProcess
  /** Everything it has written so far. */
  output: () => string
  /** Resolves when it has written the text; rejects when it ends first. */
  wrote: (text: string) => Promise<void>
  /** The exit code, or the name of the signal. */
  exit: Promise<number | string>
}

export type DevPlace = {
  /** Where its folder is made. */
  tmp: string
  url: string
  env: Record<string, string>
  start: (env?: Record<string, string>) => DevRun
  /** The same on a terminal, which is closed when the child is killed. */
  startOnTerminal: () => DevRun
  /** `npm run demo`, in a group of its own: a signal to the group is what Ctrl-C sends. */
  startDemo: (env?: Record<string, string>) => DevRun
  /** The ids of all processes that were started there, and that run. */
  processes: () => number[]
  /** Ends what a failed test has left there. */
  remove: () => void
}

export async function createDevPlace(): Promise<DevPlace> {
  const tmp = mkdtempSync(`${tmpdir()}/manager-dev-test-`)
  // PostgreSQL may run as another user.
  chmodSync(tmp, 0o755)
  const processes = createProcessFinder(tmp)
  const port = await freePort()
  const env = {
    PATH: process.env['PATH'] as string,
    HOME: process.env['HOME'] ?? '/',
    NODE_COMPILE_CACHE: `${tmpdir()}/manager-compile-cache`,
    TMPDIR: tmp,
    SVC_PORT: String(port),
    SVC_HEALTH_PORT: String(await freePort()),
  }
  return {
    tmp,
    url: `http://127.0.0.1:${port}`,
    env,
    start: (more = {}) => watch(spawn(process.execPath, [program], { env: { ...env, ...more } })),
    startOnTerminal: () => {
      const command = `exec '${process.execPath}' '${program}'`
      return watch(spawn('script', ['-qfec', command, '/dev/null'], { env: { ...env, TERM: 'xterm' } }))
    },
    startDemo: (more = {}) => {
      const { SVC_PORT: DEMO_PORT, SVC_HEALTH_PORT: _, ...rest } = env
      const options = { cwd: root, detached: true, env: { ...rest, DEMO_PORT, ...more } }
      return watch(spawn('npm', ['run', 'demo'], options))
    },
    processes,
    remove: () => {
      for (const pid of processes()) process.kill(pid, 'SIGKILL')
      rmSync(tmp, { recursive: true, force: true })
    },
  }
}

function watch(child: ChildProcess): DevRun {
  let output = ''
  let listeners: (() => void)[] = []
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => {
      output += chunk.toString()
      for (const listener of listeners) listener()
    })
  const exit = new Promise<number | string>((resolve) =>
    child.once('exit', (code, signal) => resolve(code ?? signal ?? 'gone')),
  )
  const wrote = (text: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = (): void => void (output.includes(text) && resolve())
      listeners = [...listeners, look]
      look()
      void exit.then((code) => reject(new Error(`ended with ${code} before "${text}": ${output}`)))
    })
  return { child, output: () => output, wrote, exit }
}

/**
 * Every process that names the folder in its environment, as descendants of a run do, or in its command. Redis writes
 * over both; its id is in the file of the run.
 */
function createProcessFinder(tmp: string): () => number[] {
  const noted = new Set<number>()
  return () => {
    for (const file of globSync(`${tmp}/*/processes.json`))
      for (const { pid } of (JSON.parse(readFileSync(file, 'utf8')) as Claim).children) noted.add(pid)
    return globSync('/proc/[0-9]*').flatMap((dir) => {
      const pid = Number(dir.slice('/proc/'.length))
      try {
        if (readFileSync(`${dir}/stat`, 'utf8').includes(') Z ')) return []
        const texts = ['environ', 'cmdline'].map((name) => readFileSync(`${dir}/${name}`, 'utf8'))
        return noted.has(pid) || texts.some((text) => text.includes(tmp)) ? [pid] : []
      } catch {
        // Ended in between, or of another user.
        return []
      }
    })
  }
}
