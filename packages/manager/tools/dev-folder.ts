// Reserves the folder of `npm run dev` or `npm run demo` for one run at a time. A file in the folder lists
// the processes of the run. A concurrent run finds the file and stops. If a run was killed, the next run
// stops its remaining processes.
import { lstatSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/** Identifies a process by its id and start time, because the system may reuse the id for another process. */
type OwnedProcess = { pid: number; started: string | null }
type Claim = { port: string; run: OwnedProcess; children: OwnedProcess[] }
/** `add` records the leader of a process group that must be stopped with this run. */
export type DevFolder = { add: (pid: number) => void; release: () => void }

// Time for the service and Redis to stop before they are killed.
const stopTimeoutMs = 30_000

/**
 * Claims the folder and creates it if necessary. Throws if another run uses it. Stops processes that a killed run left
 * behind. `owners` are the user ids that may own the folder.
 */
export async function claimFolder(
  dir: string,
  port: string,
  owners: number[],
  command = 'npm run dev',
): Promise<DevFolder> {
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  if (!owners.includes(lstatSync(dir).uid))
    throw new Error(
      `${dir} belongs to another user: remove the folder, or set TMPDIR to a folder of your own`,
    )
  const file = `${dir}/processes.json`
  const claim: Claim = { port, run: identifyProcess(process.pid), children: [] }
  while (!tryCreate(file, JSON.stringify(claim))) {
    const { port: otherPort, run, children } = JSON.parse(readFileSync(file, 'utf8')) as Claim
    if (isRunning(run))
      throw new Error(
        `${command} is already running (process ${run.pid}): use it at http://localhost:${otherPort}, or stop it first`,
      )
    for (const child of children.toReversed()) await stopProcess(child)
    rmSync(file, { force: true })
  }
  return {
    add: (pid) => {
      claim.children.push(identifyProcess(pid))
      // The file is replaced atomically, because a killed run must not leave a partial list.
      writeFileSync(`${file}.new`, JSON.stringify(claim))
      renameSync(`${file}.new`, file)
    },
    release: () => rmSync(file, { force: true }),
  }
}

/** Creates the file. Returns false if it already exists. */
function tryCreate(file: string, text: string): boolean {
  try {
    writeFileSync(file, text, { flag: 'wx' })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

async function stopProcess(one: OwnedProcess): Promise<void> {
  if (isRunning(one)) process.kill(one.pid, 'SIGTERM')
  for (let waitedMs = 0; isRunning(one) && waitedMs < stopTimeoutMs; waitedMs += 50) await sleep(50)
  if (isRunning(one)) process.kill(-one.pid, 'SIGKILL')
}

const identifyProcess = (pid: number): OwnedProcess => ({ pid, started: readStartTime(pid) })
const isRunning = ({ pid, started }: OwnedProcess): boolean =>
  started !== null && readStartTime(pid) === started

/** Returns the start time of the process in clock ticks since boot, or null if it is not running. */
function readStartTime(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The process name can contain any character. After it, field 1 is the state, and field 20 is the start time.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' ? null : (fields[19] ?? null)
  } catch {
    return null
  }
}
