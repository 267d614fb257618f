// Runs a Patroni cluster for patroni.ts: `patroni-keeper.ts <log folder> [network]`. It prints the addresses as
// soon as the programs are running.
//
// Each input line is a fault with a node number, such as `kill 2`, or `revive`, which undoes all faults. The reply
// is one line of JSON with the time at which the fault took effect, or with the error. When stdin closes, the
// keeper kills all programs and removes the data and the network. Stdin closes even if the parent is killed.
import { type ChildProcess, spawn } from 'node:child_process'
import {
  chownSync,
  closeSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { createInterface } from 'node:readline'
import { findPostgresAccount, freePort } from '@manager/harness/engines/postgres.ts'
import { ensurePostgres } from '@manager/harness/engines/install.ts'
import {
  type Layout,
  type Node,
  etcdArgs,
  haproxyConfig,
  patroniConfig,
  etcdSettings,
} from './patroni-config.ts'
import { type PrivateNet, createPrivateNet } from './private-net.ts'

export type KeptCluster = Pick<Layout, 'dir' | 'nodes' | 'readWritePort'>
export type KeptFault = 'kill' | 'kill-postgres' | 'freeze' | 'freeze-all' | 'partition' | 'partition-peers'
export type KeeperReply = { at: number } | { error: string }

const [chosenFolder = '', mode = ''] = process.argv.slice(2)
const nodeNumbers = [1, 2, 3]
const account = process.getuid?.() === 0 ? findPostgresAccount() : null
const dir = mkdtempSync(`${tmpdir()}/manager-patroni-`)
// By default, the logs are removed together with the data.
const logFolder = chosenFolder === '' ? dir : chosenFolder
const patronis = new Map<number, ChildProcess>()
let net: PrivateNet | null = null

/**
 * Starts a program as the PostgreSQL user, in the node's folder and network. The kernel kills the program when the
 * keeper ends.
 */
function start(name: string, command: readonly string[], node: number | null): ChildProcess {
  const log = openSync(`${logFolder}/${name}.log`, 'a')
  const user = account === null ? [] : [`--reuid=${account.uid}`, `--regid=${account.gid}`, '--init-groups']
  const inside = node === null ? [] : (net?.inside(node) ?? [])
  // Each wrapper replaces itself with the next command, so that the PID belongs to the program.
  const [program = '', ...args] = [...inside, 'setpriv', ...user, '--pdeathsig=KILL', '--', ...command]
  const cwd = node === null ? dir : `${dir}/node${node}`
  // The caller's variables, such as PGHOST, must not reach the servers.
  const env = { PATH: process.env['PATH'] ?? '', HOME: cwd, LANG: 'C.UTF-8', PYTHONUNBUFFERED: '1' }
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', log, log] })
  child.on('error', (error) => process.stderr.write(`${name}: ${error.message}\n`))
  closeSync(log)
  return child
}

const startPatroni = (node: number): void =>
  void patronis.set(node, start(`patroni${node}`, ['patroni', `${dir}/node${node}/patroni.yml`], node))

/**
 * Returns the processes whose working directory is in this folder: all processes that were started here, and
 * their children.
 */
function processesIn(folder: string): number[] {
  return globSync('/proc/[0-9]*/cwd').flatMap((link) => {
    try {
      const cwd = readlinkSync(link)
      const pid = Number(link.split('/')[2])
      return cwd === folder || cwd.startsWith(`${folder}/`) || cwd === `${folder} (deleted)` ? [pid] : []
    } catch {
      return []
    }
  })
}

function signal(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids)
    try {
      process.kill(pid, name)
    } catch {
      // The process has already exited.
    }
}

const dataOf = (node: number): string => `${dir}/node${node}/data`

/** Returns the PID of a node's postmaster. Throws if it is not running. */
function postmasterOf(node: number): number {
  const [pid = ''] = readFileSync(`${dataOf(node)}/postmaster.pid`, 'utf8').split('\n')
  if (!processesIn(dataOf(node)).includes(Number(pid)))
    throw new Error(`PostgreSQL is not running on node ${node}`)
  return Number(pid)
}

function patroniOf(node: number): number {
  const pid = patronis.get(node)?.pid
  if (pid === undefined || hasEnded(node)) throw new Error(`Patroni is not running on node ${node}`)
  return pid
}

const hasEnded = (node: number): boolean => {
  const child = patronis.get(node)
  return child === undefined || child.exitCode !== null || child.signalCode !== null
}

const faults: Record<KeptFault, (node: number) => void> = {
  kill: (node) => {
    signal([patroniOf(node), postmasterOf(node)], 'SIGKILL')
    signal(processesIn(dataOf(node)), 'SIGKILL')
  },
  'kill-postgres': (node) => signal([postmasterOf(node)], 'SIGKILL'),
  freeze: (node) => signal([patroniOf(node)], 'SIGSTOP'),
  'freeze-all': (node) => {
    // Stops the postmaster before its children, so that it does not start new children.
    signal([patroniOf(node), postmasterOf(node)], 'SIGSTOP')
    signal(processesIn(dataOf(node)), 'SIGSTOP')
  },
  partition: (node) => cut(node, 'all'),
  'partition-peers': (node) => cut(node, 'peers'),
}

function cut(node: number, scope: 'all' | 'peers'): void {
  if (net === null) throw new Error('a partition requires a cluster with its own network')
  net.cut(node, scope)
}

/** Undoes every fault and restarts killed nodes. */
function revive(): void {
  for (const node of nodeNumbers) {
    net?.heal(node)
    signal(processesIn(`${dir}/node${node}`), 'SIGCONT')
    if (hasEnded(node)) startPatroni(node)
  }
}

function execute(line: string): KeeperReply {
  const [action = '', node = ''] = line.split(' ')
  try {
    if (action === 'revive') revive()
    else faults[action as KeptFault](Number(node))
    return { at: Date.now() }
  } catch (error) {
    return { error: (error as Error).message }
  }
}

async function distinctPorts(count: number): Promise<number[]> {
  const ports = new Set<number>()
  while (ports.size < count) ports.add(await freePort())
  return [...ports]
}

async function createLayout(): Promise<Layout> {
  const bin = ensurePostgres()
  const ports = await distinctPorts(1 + nodeNumbers.length * 4)
  const nodes = nodeNumbers.map((number): Node => {
    const [postgres, rest, etcdClient, etcdPeer] = ports.slice(number * 4 - 3) as [
      number,
      number,
      number,
      number,
    ]
    return { number, host: net?.hostOf(number) ?? '127.0.0.1', postgres, rest, etcdClient, etcdPeer }
  })
  const trusted = ['127.0.0.1/32', ...(net === null ? [] : [net.cidr])]
  return { dir, nodes, readWritePort: ports[0] as number, bin, trusted }
}

/** Makes the PostgreSQL user the owner of the file. */
function chownToPostgres(path: string): void {
  if (account !== null) chownSync(path, account.uid, account.gid)
}

async function startAll(): Promise<Layout> {
  if (mode === 'network') net = createPrivateNet(nodeNumbers.length)
  const layout = await createLayout()
  chownToPostgres(dir)
  for (const node of layout.nodes) {
    const folder = `${dir}/node${node.number}`
    mkdirSync(folder, { mode: 0o700 })
    chownToPostgres(folder)
    writeFileSync(`${folder}/patroni.yml`, patroniConfig(layout, node))
    chownToPostgres(`${folder}/patroni.yml`)
  }
  const { isV2 } = etcdSettings()
  for (const node of layout.nodes)
    start(`etcd${node.number}`, ['etcd', ...etcdArgs(layout, node, isV2)], node.number)
  for (const number of nodeNumbers) startPatroni(number)
  writeFileSync(`${dir}/haproxy.cfg`, haproxyConfig(layout))
  start('haproxy-postgres', ['haproxy', '-db', '-f', `${dir}/haproxy.cfg`], null)
  return layout
}

/** Kills all remaining processes and waits until they have exited. */
async function killAll(): Promise<void> {
  for (const end = Date.now() + 20_000; Date.now() < end;) {
    const left = processesIn(dir).filter((pid) => pid !== process.pid)
    if (left.length === 0) break
    signal(left, 'SIGKILL')
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  net?.remove()
  rmSync(dir, { recursive: true, force: true })
}

const print = (value: KeptCluster | KeeperReply): void =>
  void process.stdout.write(`${JSON.stringify(value)}\n`)
// Writes to stdout fail if the parent has exited.
process.stdout.on('error', () => undefined)
const lines = createInterface(process.stdin)
const shutdown = Promise.withResolvers<void>()
lines.once('close', shutdown.resolve)
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(name, () => shutdown.resolve())
try {
  const { nodes, readWritePort } = await startAll()
  lines.on('line', (line) => print(execute(line)))
  print({ dir, nodes, readWritePort })
  await shutdown.promise
} finally {
  await killAll()
}
process.exit()
