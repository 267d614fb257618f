// Starts the service and the bare program, and sends load to both in alternating rounds.
import { spawn } from 'node:child_process'
import { mkdtempSync, openSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { testEnv } from '@manager/harness/test-env.ts'
import { type Load, readCpuMs, median, quantile, runLoad } from './load.ts'

export type Side = { pid: number; url: string; stop: () => boolean }

export const printLine = (line: string): void => void process.stdout.write(`${line}\n`)

// In production, NODE_ENV=production disables the development checks of libraries.
const pathEnv = { PATH: process.env['PATH'], NODE_ENV: 'production' }

/** Starts the service in its own process, as in production. */
export const startService = (databaseUrl: string, env: Record<string, string> = {}): Promise<Side> =>
  start(
    '../src/main.ts',
    [],
    { ...pathEnv, ...testEnv(databaseUrl), ...servicePorts, ...env },
    /"port":(\d+)/,
  )
const servicePorts = { SVC_PORT: '0', SVC_HEALTH_PORT: '0', SVC_DATABASE_POOL_SIZE: '10' }

/** Starts a bare program, which must print the port that it listens on. */
export const startBare = (file: string, args: string[]): Promise<Side> =>
  start(file, args, pathEnv, /^(\d+)\n/)

/**
 * Starts a program and waits until it prints its port. The output is written to a file, as in production.
 */
async function start(file: string, args: string[], env: NodeJS.ProcessEnv, port: RegExp): Promise<Side> {
  const outputFile = `${mkdtempSync(`${tmpdir()}/manager-bench-`)}/out.log`
  const path = new URL(file, import.meta.url).pathname
  const child = spawn(process.execPath, [path, ...args], {
    env,
    stdio: ['ignore', openSync(outputFile, 'w'), 'inherit'],
  })
  // A failed benchmark must not leave processes running.
  process.once('exit', () => child.kill())
  for (let tries = 0; tries < 1_200; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 50))
    const [, foundPort] = port.exec(readFileSync(outputFile, 'utf8')) ?? []
    if (foundPort !== undefined)
      return { pid: child.pid as number, url: `http://127.0.0.1:${foundPort}`, stop: () => child.kill() }
  }
  throw new Error(`${file} did not start within 60 s`)
}

export type Comparison = {
  name: string
  service: { side: Side; load: Load }
  bare: { side: Side; load: Load }
  connections: number
  rounds: number
  seconds: number
}

/** Sends load to both sides in alternating rounds and prints the ratio of their rates. The first round is a warm-up. */
export async function compare({ name, connections, rounds, seconds, ...sides }: Comparison): Promise<void> {
  const ratios: number[] = []
  const rates = { service: [] as number[], bare: [] as number[] }
  const cpuTimes = { service: [] as number[], bare: [] as number[] }
  const p99 = { service: [] as number[], bare: [] as number[] }
  for (let round = 0; round < rounds; round++) {
    for (const sideName of ['bare', 'service'] as const) {
      const { side, load } = sides[sideName]
      const cpuBefore = readCpuMs(side.pid)
      const result = await runLoad(load, connections, seconds)
      if (result.failed > 0) throw new Error(`${result.failed} of ${result.requests} requests failed`)
      if (round === 0) continue
      rates[sideName].push(result.perSecond)
      p99[sideName].push(result.p99Ms)
      cpuTimes[sideName].push(((readCpuMs(side.pid) - cpuBefore) * 1_000) / result.requests)
    }
    if (round > 0) ratios.push((rates.service.at(-1) as number) / (rates.bare.at(-1) as number))
  }
  printLine(
    `${name} c=${String(connections).padEnd(3)} ratio=${median(ratios).toFixed(2)} ` +
      `(${quantile(ratios, 0.25).toFixed(2)}..${quantile(ratios, 0.75).toFixed(2)}) ` +
      `service=${median(rates.service).toFixed(0)}/s bare=${median(rates.bare).toFixed(0)}/s ` +
      `p99=${median(p99.service).toFixed(1)}/${median(p99.bare).toFixed(1)} ms ` +
      `cpu=${median(cpuTimes.service).toFixed(0)}/${median(cpuTimes.bare).toFixed(0)} us per request`,
  )
}
