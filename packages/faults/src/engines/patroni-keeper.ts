// Keeps a PostgreSQL cluster by Patroni for whoever started it (patroni.ts): `patroni-keeper.ts <log folder> [network]`.
// Prints where everything listens as soon as the programs run. A line of input is a fault and the number of a node
// (`kill 2`), or `revive`, which undoes all of them; each is answered by a line of JSON: when it was done, or what went
// wrong. When its standard input ends, however the other process ends, it kills all, and removes data and network.
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
  patroniDialect,
} from './patroni-config.ts'
import { type PrivateNet, createPrivateNet } from './private-net.ts'

export type KeptCluster = Pick<Layout, 'dir' | 'nodes' | 'readWritePort'>
export type KeptFault = 'kill' | 'kill-postgres' | 'freeze' | 'freeze-all' | 'partition' | 'partition-peers'
export type KeeperAnswer = { at: number } | { error: string }

const [chosenFolder = '', mode = ''] = process.argv.slice(2)
const nodeNumbers = [1, 2, 3]
const account = process.getuid?.() === 0 ? findPostgresAccount() : null
const dir = mkdtempSync(`${tmpdir()}/manager-patroni-`)
// Of no use without the data, unless somebody wants them.
const logFolder = chosenFolder === '' ? dir : chosenFolder
const patronis = new Map<number, ChildProcess>()
let net: PrivateNet | null = null

/** Starts a program as the user of PostgreSQL, in the node's folder and network. It ends when the keeper does. */
function start(name: string, command: readonly string[], node: number | null): ChildProcess {
  const log = openSync(`${logFolder}/${name}.log`, 'a')
  const user = account === null ? [] : [`--reuid=${account.uid}`, `--regid=${account.gid}`, '--init-groups']
  const inside = node === null ? [] : (net?.inside(node) ?? [])
  // Each of these replaces itself by the next, so that the pid is the one of the program.
  const [program = '', ...args] = [...inside, 'setpriv', ...user, '--pdeathsig=KILL', '--', ...command]
  const cwd = node === null ? dir : `${dir}/node${node}`
  // Variables of the caller, PGHOST for one, must not reach the servers.
  const env = { PATH: process.env['PATH'] ?? '', HOME: cwd, LANG: 'C.UTF-8', PYTHONUNBUFFERED: '1' }
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', log, log] })
  child.on('error', (error) => process.stderr.write(`${name}: ${error.message}\n`))
  closeSync(log)
  return child
}

const startPatroni = (node: number): void =>
  void patronis.set(node, start(`patroni${node}`, ['patroni', `${dir}/node${node}/patroni.yml`], node))

/** Processes whose working directory is this folder or below: all that were started here, and their children. */
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
      // It has ended by itself.
    }
}

const dataOf = (node: number): string => `${dir}/node${node}/data`

/** The postmaster of a node, if one serves its data. */
function postmasterOf(node: number): number {
  const [pid = ''] = readFileSync(`${dataOf(node)}/postmaster.pid`, 'utf8').split('\n')
  if (!processesIn(dataOf(node)).includes(Number(pid))) throw new Error(`node ${node} runs no PostgreSQL`)
  return Number(pid)
}

function patroniOf(node: number): number {
  const pid = patronis.get(node)?.pid
  if (pid === undefined || hasEnded(node)) throw new Error(`node ${node} runs no Patroni`)
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
    // The postmaster before its children: it starts no others then.
    signal([patroniOf(node), postmasterOf(node)], 'SIGSTOP')
    signal(processesIn(dataOf(node)), 'SIGSTOP')
  },
  partition: (node) => cut(node, 'all'),
  'partition-peers': (node) => cut(node, 'peers'),
}

function cut(node: number, scope: 'all' | 'peers'): void {
  if (net === null) throw new Error('a partition needs a cluster with a network of its own')
  net.cut(node, scope)
}

/** Undoes every fault; a node that was killed starts again. */
function revive(): void {
  for (const node of nodeNumbers) {
    net?.heal(node)
    signal(processesIn(`${dir}/node${node}`), 'SIGCONT')
    if (hasEnded(node)) startPatroni(node)
  }
}

function obey(line: string): KeeperAnswer {
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

async function layOut(): Promise<Layout> {
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

/** Files that the user of PostgreSQL owns. */
function own(path: string): void {
  if (account !== null) chownSync(path, account.uid, account.gid)
}

async function startAll(): Promise<Layout> {
  if (mode === 'network') net = createPrivateNet(nodeNumbers.length)
  const layout = await layOut()
  own(dir)
  for (const node of layout.nodes) {
    const folder = `${dir}/node${node.number}`
    mkdirSync(folder, { mode: 0o700 })
    own(folder)
    writeFileSync(`${folder}/patroni.yml`, patroniConfig(layout, node))
    own(`${folder}/patroni.yml`)
  }
  const { isV2 } = patroniDialect()
  for (const node of layout.nodes)
    start(`etcd${node.number}`, ['etcd', ...etcdArgs(layout, node, isV2)], node.number)
  for (const number of nodeNumbers) startPatroni(number)
  writeFileSync(`${dir}/haproxy.cfg`, haproxyConfig(layout))
  start('haproxy-postgres', ['haproxy', '-db', '-f', `${dir}/haproxy.cfg`], null)
  return layout
}

/** Kills everything that is left, and waits until it is gone. */
async function endAll(): Promise<void> {
  for (const end = Date.now() + 20_000; Date.now() < end;) {
    const left = processesIn(dir).filter((pid) => pid !== process.pid)
    if (left.length === 0) break
    signal(left, 'SIGKILL')
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  net?.remove()
  rmSync(dir, { recursive: true, force: true })
}

const print = (value: KeptCluster | KeeperAnswer): void =>
  void process.stdout.write(`${JSON.stringify(value)}\n`)
// Who started it may be gone: then nobody reads this.
process.stdout.on('error', () => undefined)
const lines = createInterface(process.stdin)
const isOver = Promise.withResolvers<void>()
lines.once('close', isOver.resolve)
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(name, () => isOver.resolve())
try {
  const { nodes, readWritePort } = await startAll()
  lines.on('line', (line) => print(obey(line)))
  print({ dir, nodes, readWritePort })
  await isOver.promise
} finally {
  await endAll()
}
process.exit()
