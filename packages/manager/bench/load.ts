// Generates load with wrk, which is written in C and uses little CPU time, and measures the CPU time of a process.
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { promisify } from 'node:util'

export type Load = {
  /** The URL of the target. `paths` are relative to it. */
  url: string
  headers: Record<string, string>
  /** Bodies for POST requests or paths for GET requests, used in rotation. */
  requests: { bodies: string[]; path?: string } | { paths: string[] }
}
let runCount = 0
const runNumber = (): string => String(++runCount).padStart(6, '0')
export type Round = { requests: number; perSecond: number; p50Ms: number; p99Ms: number; failed: number }

/** Placeholder in a body. In each request, unique text of the same length replaces the placeholder. */
export const uniquePart = 'unique-000000-000000000000'

const createScript = ({ headers, requests }: Load): string => `
wrk.method = "${'bodies' in requests ? 'POST' : 'GET'}"
${Object.entries(headers)
  .map(([name, value]) => `wrk.headers[${JSON.stringify(name)}] = ${JSON.stringify(value)}`)
  .join('\n')}
local ready = {}
local at = 0
init = function()
  for _, part in ipairs({ ${('bodies' in requests ? requests.bodies : requests.paths)
    .map((part) => JSON.stringify(part))
    .join(', ')} }) do
    ready[#ready + 1] = ${'bodies' in requests ? `wrk.format(nil, ${requests.path === undefined ? 'nil' : JSON.stringify(requests.path)}, nil, part)` : 'wrk.format(nil, part)'}
  end
end
local sent = 0
local isUnique = ${'bodies' in requests && requests.bodies.some((body) => body.includes(uniquePart))}
request = function()
  at = at % #ready + 1
  if not isUnique then return ready[at] end
  sent = sent + 1
  local from, to = string.find(ready[at], "${uniquePart}", 1, true)
  return string.sub(ready[at], 1, from - 1) .. string.format("unique-${runNumber()}-%012d", sent) .. string.sub(ready[at], to + 1)
end
done = function(summary, latency, requests)
  local e = summary.errors
  io.write(string.format("RESULT %d %d %f %f %d\\n", summary.requests, summary.duration,
    latency:percentile(50), latency:percentile(99), e.connect + e.read + e.write + e.status + e.timeout))
end`

/** Sends the requests in rotation over `connections` connections for `seconds` seconds. */
export async function runLoad(load: Load, connections: number, seconds: number): Promise<Round> {
  const file = `${mkdtempSync(`${tmpdir()}/manager-bench-`)}/load.lua`
  writeFileSync(file, createScript(load))
  const args = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '10s', '-s', file, load.url]
  const { stdout } = await promisify(execFile)('wrk', args)
  const [, requests, microseconds, p50, p99, failed] = (
    /RESULT (\d+) (\d+) ([\d.]+) ([\d.]+) (\d+)/.exec(stdout) ?? []
  ).map(Number)
  if (requests === undefined || microseconds === undefined)
    throw new Error(`unexpected wrk output: ${stdout}`)
  return {
    requests,
    perSecond: requests / (microseconds / 1e6),
    p50Ms: (p50 ?? 0) / 1_000,
    p99Ms: (p99 ?? 0) / 1_000,
    failed: failed ?? 0,
  }
}

/** Returns the CPU time that a process has used, in milliseconds. Linux counts in units of 10 ms. */
export function readCpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}

export const median = (values: number[]): number => quantile(values, 0.5)

export function quantile(values: number[], at: number): number {
  const sortedValues = values.toSorted((a, b) => a - b)
  return sortedValues[Math.min(sortedValues.length - 1, Math.floor(at * sortedValues.length))] ?? Number.NaN
}
