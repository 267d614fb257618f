// Runs Go's own text/template as a child process of the tests. It is built once and receives one request per line.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs'
import { createInterface } from 'node:readline'

/** A template, and everything else that determines its output. */
export interface Case {
  readonly template: string
  readonly data?: unknown
  /** Whether Go's own functions are available. The default is true. */
  readonly builtins?: boolean
  /** Whether the seven host functions are available. */
  readonly functions?: boolean
  /** Whether a missing key is an error. */
  readonly missingKey?: 'error'
  /** A time to add to the data under `key`. */
  readonly time?: { readonly key: string; readonly ms: number }
}

/** The result of rendering. */
export interface Outcome {
  readonly output: string
  /** The phase that failed. Absent on success. */
  readonly phase?: 'parse' | 'exec'
  readonly error?: string
}

const source = new URL('main.go', import.meta.url).pathname

/** Returns the path of the oracle, which is built if needed. Returns null if Go is not installed. */
export function oracleProgram(): string | null {
  const hash = createHash('sha256').update(readFileSync(source)).digest('hex').slice(0, 16)
  const directory = new URL('../../../../node_modules/.cache/gotemplate-oracle', import.meta.url).pathname
  const program = `${directory}/oracle-${hash}`
  if (existsSync(program)) return program
  mkdirSync(directory, { recursive: true })
  const fresh = `${program}.${process.pid}`
  try {
    execFileSync('go', ['build', '-o', fresh, source], {
      env: { ...process.env, GOPROXY: 'off' },
      stdio: 'pipe',
    })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
  renameSync(fresh, program)
  return program
}

/** A running oracle. It answers requests in order, so several may be pending. */
export class Oracle {
  readonly #process: ChildProcess
  readonly #waiting: ((outcome: Outcome) => void)[] = []

  constructor(program: string) {
    this.#process = spawn(program, { stdio: ['pipe', 'pipe', 'inherit'] })
    const lines = createInterface({ input: this.#process.stdout as NodeJS.ReadableStream })
    lines.on('line', (line) => {
      const { output, phase, error } = JSON.parse(line) as Outcome
      this.#waiting.shift()?.({ output, ...(phase === undefined ? {} : { phase, error: error ?? '' }) })
    })
  }

  /** Renders the case with Go. */
  ask(request: Case): Promise<Outcome> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve)
      this.#process.stdin?.write(`${JSON.stringify({ id: 0, ...request })}\n`)
    })
  }

  async close(): Promise<void> {
    this.#process.stdin?.end()
    await once(this.#process, 'exit')
  }
}
