// Runs a private S3 service: one Ceph node that keeps all data in memory, behind its RADOS Gateway. It is ready after
// about 15 s and uses about 1 GB while it runs.
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { closeSync, mkdirSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { freePort } from './postgres.ts'

export type S3Access = { endpoint: string; accessKeyId: string; secretAccessKey: string }
export type S3Server = S3Access & {
  /** Signals the gateway: SIGSTOP freezes it, SIGCONT resumes it. */
  signal(name: 'SIGSTOP' | 'SIGCONT'): void
  /** Stops all processes and removes the folder. */
  stop(): Promise<void>
}

const run = promisify(execFile)
const keys = { accessKeyId: 'AKTESTKEYOFALLTESTS', secretAccessKey: 'the-secret-key-of-the-bucket-in-tests' }
const everything = ['mon', 'osd', 'mgr'].flatMap((part) => ['--cap', part, 'allow *'])

/** Starts a service on the port, with its data in the folder, and waits until it responds. */
export async function startS3(dir: string, port: number): Promise<S3Server> {
  for (const name of ['mon', 'mgr', 'osd', 'rgw', 'out', 'run'])
    mkdirSync(`${dir}/${name}`, { recursive: true })
  const fsid = randomUUID()
  const monitor = `[v2:127.0.0.1:${await freePort()},v1:127.0.0.1:${await freePort()}]`
  writeFileSync(`${dir}/ceph.conf`, confOf({ dir, fsid, monitor, port }))
  const daemons: ChildProcess[] = []
  const as = (args: string[]): string[] => ['-c', `${dir}/ceph.conf`, ...args]
  const daemon = (program: string, args: string[]): ChildProcess => {
    const out = openSync(`${dir}/out/${program}`, 'a')
    const child = spawn(program, as([...args, '-f']), { stdio: ['ignore', out, out], cwd: dir })
    closeSync(out)
    child.on('error', () => undefined)
    daemons.unshift(child)
    return child
  }
  const stop = async (): Promise<void> => {
    for (const child of daemons) await killProcess(child)
    rmSync(dir, { recursive: true, force: true, maxRetries: 5 })
  }
  try {
    await makeKeys(dir)
    await run('monmaptool', ['--create', '--fsid', fsid, '--addv', 'a', monitor, `${dir}/monmap`])
    await run('ceph-mon', as(['--mkfs', '-i', 'a', '--monmap', `${dir}/monmap`, '-k', `${dir}/keyring`]))
    daemon('ceph-mon', ['-i', 'a', '-k', `${dir}/keyring`])
    const osd = randomUUID()
    await run('ceph', as(['-k', `${dir}/keyring`, '--connect-timeout', '60', 'osd', 'new', osd]))
    daemon('ceph-mgr', ['-i', 'a', '--mgr-data', `${dir}/mgr`, '-k', `${dir}/keyring`])
    await run('ceph-osd', as(['-i', '0', '--mkfs', '--osd-uuid', osd, '-k', `${dir}/keyring`]))
    daemon('ceph-osd', ['-i', '0', '-k', `${dir}/keyring`])
    const gateway = daemon('radosgw', ['-n', 'client.rgw', '-k', `${dir}/keyring`])
    await waitUntilResponding(port, gateway)
    const user = ['user', 'create', '--uid=tests', '--display-name=tests']
    const both = [`--access-key=${keys.accessKeyId}`, `--secret-key=${keys.secretAccessKey}`]
    await run('radosgw-admin', as(['-n', 'client.rgw', '-k', `${dir}/keyring`, ...user, ...both]))
    const endpoint = `http://127.0.0.1:${port}`
    return { endpoint, ...keys, signal: (name) => void gateway.kill(name), stop }
  } catch (error) {
    await stop()
    throw new Error(`Ceph did not start: ${(error as Error).message}`, { cause: error })
  }
}

/** Writes one keyring with the keys of all daemons. The monitor imports the keyring during its setup. */
async function makeKeys(dir: string): Promise<void> {
  for (const name of ['mon.', 'client.admin', 'mgr.a', 'osd.0', 'client.rgw'])
    await run('ceph-authtool', [
      ...(name === 'mon.' ? ['--create-keyring'] : []),
      `${dir}/keyring`,
      '--gen-key',
      '-n',
      name,
      ...everything,
    ])
}

type ConfOptions = { dir: string; fsid: string; monitor: string; port: number }
const confOf = ({ dir, fsid, monitor, port }: ConfOptions): string => `[global]
fsid = ${fsid}
mon host = ${monitor}
public addr = 127.0.0.1
cluster addr = 127.0.0.1
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 8
osd pool default pg autoscale mode = off
mon allow pool size one = true
mon warn on pool no redundancy = false
osd crush chooseleaf type = 0
run dir = ${dir}/run
log file = ${dir}/out/$name.log
admin socket = ${dir}/run/$name.asok
pid file = ${dir}/run/$name.pid
crash dir = ${dir}/out
[mon]
mon data = ${dir}/mon
mon initial members = a
[osd]
osd objectstore = memstore
memstore device bytes = 2147483648
osd data = ${dir}/osd
[client.rgw]
rgw frontends = beast endpoint=127.0.0.1:${port}
rgw data = ${dir}/rgw
rgw init timeout = 60
`

async function waitUntilResponding(port: number, gateway: ChildProcess): Promise<void> {
  for (let tries = 0; tries < 600 && gateway.exitCode === null; tries++) {
    const signal = AbortSignal.timeout(2_000)
    const response = await fetch(`http://127.0.0.1:${port}/`, { signal }).catch(() => null)
    if (response?.status === 200) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error('the gateway does not respond')
}

/** Kills the daemon. No data is kept, so a clean shutdown would only waste time. */
async function killProcess(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
}
