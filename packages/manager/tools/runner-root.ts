// Builds the file tree in which play-workflow.ts runs steps, with mmdebstrap. The tree of a hosted runner has the
// programs of the hosted image and an unprivileged user whose sudo runs only apt-get. The tree of a container has
// Debian's minimal set and root. Both use the package sources, certificates and npm settings of this machine.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  openSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { ensureMmdebstrap } from '@manager/harness/engines/install.ts'
import type { Machine, Values } from './workflow-plan.ts'

export type Tree = { root: string; machine: Machine }

/** Programs of the hosted image that steps need in addition to Debian's minimal set, each with the reason. */
const imagePackages: Record<string, string> = {
  'ca-certificates': 'npm verifies the certificate of the registry',
  chromium: 'replaces Chrome, which the browser tests control',
  curl: 'the guides in docs/ call curl',
  git: 'the checks list files with git',
  procps: 'hosted images contain ps and pgrep',
  python3: 'hosted images contain Python',
  sudo: 'steps install packages with sudo',
  'xz-utils': 'hosted images can unpack xz archives',
}
type Account = { name: string; id: number; home: string }
const accounts: Record<Machine, Account> = {
  hosted: { name: 'runner', id: 1001, home: '/home/runner' },
  container: { name: 'root', id: 0, home: '/root' },
}
/** Folder into which a hosted runner checks out the repository. */
export const workspace = '/home/runner/work/manager/manager'
const certificatesFile = '/etc/ssl/certs/ca-certificates.crt'
/**
 * Path of a copy of the certificates in the tree. When a step installs the package ca-certificates, it
 * overwrites the original file.
 */
const certificatesCopy = '/etc/runner-certificates.crt'

/**
 * Enters the tree and runs a command as the account. It uses pivot_root, because the kernel denies user
 * namespaces to a process in a chroot. Tests and Chromium need user namespaces. The shell stays process 1 and
 * reaps orphans.
 */
const enterScript = `set -e
root=$1 user=$2 folder=$3
shift 3
echo runner > /proc/sys/kernel/hostname
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount -t sysfs -o ro sysfs "$root/sys"
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
for name in null zero full random urandom tty; do
  touch "$root/dev/$name"
  mount --bind "/dev/$name" "$root/dev/$name"
done
mkdir "$root/dev/pts" "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts "$root/dev/pts"
mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
ln -s fd/0 "$root/dev/stdin"
ln -s fd/1 "$root/dev/stdout"
ln -s fd/2 "$root/dev/stderr"
cd "$root"
mkdir -p .outside
pivot_root . .outside
umount -l /.outside
cd "$folder"
setpriv --reuid "$user" --regid "$user" --init-groups -- "$@" &
wait $!
`

/**
 * Returns the command that starts a program in separate mount, process, IPC and host name namespaces. When this process
 * exits for any reason, the kernel kills all processes in the namespaces and removes the mounts.
 */
const wrapInNamespaces = (command: readonly string[]): [string, string[]] => [
  'setpriv',
  ['--pdeathsig', 'KILL', 'unshare', '--mount', '--pid', '--ipc', '--uts', '--fork', '--kill-child'].concat(
    ['--propagation', 'private', '--'],
    command,
  ),
]

/** Builds the tree in a folder that must not exist yet. Building the tree of a hosted runner takes one to three minutes. */
export function buildTree(tree: Tree): void {
  if (process.getuid?.() !== 0) throw new Error('Run the workflow player as root: it mounts file systems.')
  ensureMmdebstrap()
  const settings = `${tree.root}.apt.conf`
  writeFileSync(settings, readAptSettings())
  const packages = tree.machine === 'hosted' ? [`--include=${Object.keys(imagePackages).join(',')}`] : []
  const [program, args] = wrapInNamespaces(
    ['mmdebstrap', '--mode=root', '--variant=minbase', '--quiet', ...packages].concat(
      [`--aptopt=${settings}`, readSuite(), tree.root],
      listSourceFiles(),
    ),
  )
  execFileSync(program, args, { stdio: ['ignore', 'ignore', 'inherit'] })
  configureTree(tree)
}

function configureTree(tree: Tree): void {
  const { root, machine } = tree
  const { home } = accounts[machine]
  if (machine === 'hosted') addRunner(root)
  // Packages must not start services, because the tree shares the ports of this machine.
  writeFileSync(`${root}/usr/sbin/policy-rc.d`, '#!/bin/sh\nexit 101\n', { mode: 0o755 })
  copyFileSync('/etc/resolv.conf', `${root}/etc/resolv.conf`)
  writeFileSync(`${root}/etc/hosts`, '127.0.0.1 localhost runner\n::1 localhost\n')
  if (existsSync(certificatesFile)) copyFileSync(certificatesFile, `${root}${certificatesCopy}`)
  const npmrc = readNpmSetting('userconfig')
  if (existsSync(npmrc)) copyFileSync(npmrc, `${root}${home}/.npmrc`)
  mkdirSync(`${root}${workspace}`, { recursive: true })
  chownToAccount(tree, home)
}

function addRunner(root: string): void {
  const { name, id } = accounts.hosted
  const options = ['--create-home', '--uid', String(id), '--shell', '/bin/bash']
  execFileSync('useradd', ['--root', root, ...options, name])
  const sudoers = `${root}/etc/sudoers.d/runner`
  writeFileSync(sudoers, `${name} ALL=(root) NOPASSWD: /usr/bin/apt-get\n`)
  chmodSync(sudoers, 0o440)
}

/** Makes the user that runs the steps the owner of a file in the tree. */
export function chownToAccount({ root, machine }: Tree, file: string): void {
  const { id } = accounts[machine]
  execFileSync('chown', ['-R', `${id}:${id}`, `${root}${file}`])
}

/** Copies the file tree, because each job needs an unmodified copy. */
export function copyTree(from: string, to: string): void {
  execFileSync('cp', ['-a', '--reflink=auto', from, to])
}

export type Command = { tree: Tree; folder: string; command: string[]; env: Values; log: string }

/** Starts a command in the tree as the user who owns it, and writes its output to the log file. */
export function startInTree({ tree, folder, command, env, log }: Command): ChildProcess {
  const account = accounts[tree.machine]
  const [program, args] = wrapInNamespaces(
    ['sh', '-c', enterScript, 'sh', tree.root, account.name, path.join(workspace, folder)].concat(command),
  )
  const output = openSync(log, 'a')
  // The variables may contain tokens. Command-line arguments would show them to every user of this machine.
  const child = spawn(program, args, {
    stdio: ['ignore', output, output],
    env: { ...createEnvironment(account), ...env },
  })
  closeSync(output)
  return child
}

/** Returns the variables that programs expect on a hosted runner, and the npm and proxy settings of this machine. */
function createEnvironment(account: Account): Values {
  const forwardedVariables = Object.entries(process.env).filter(([key]) =>
    /^(?:npm_config_|(?:https?|no)_proxy$)/i.test(key),
  )
  return {
    ...Object.fromEntries(forwardedVariables.map(([key, value]) => [key, value ?? ''])),
    CI: 'true',
    GITHUB_ACTIONS: 'true',
    GITHUB_WORKSPACE: workspace,
    HOME: account.home,
    LANG: 'C.UTF-8',
    LOGNAME: account.name,
    NODE_EXTRA_CA_CERTS: certificatesCopy,
    RUNNER_TEMP: '/tmp',
    SHELL: '/bin/bash',
    USER: account.name,
    npm_config_registry: readNpmSetting('registry'),
  }
}

const readNpmSetting = (key: string): string =>
  execFileSync('npm', ['config', 'get', key, '--loglevel=error'], { encoding: 'utf8' }).trim()

/** Returns the apt settings of this machine for its package sources, such as a proxy. */
const readAptSettings = (): string =>
  execFileSync('apt-config', ['dump', 'Acquire'], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => /^Acquire::(?:https?|Retries|Check-Valid-Until|ForceIPv4|Languages)\b/.test(line))
    .join('\n')

function readSuite(): string {
  const command = '. /etc/os-release; echo "$ID $VERSION_CODENAME"'
  const [id, codename = ''] = execFileSync('sh', ['-c', command], { encoding: 'utf8' }).trim().split(' ')
  if (id !== 'debian')
    throw new Error(
      'Run the workflow player on Debian: it installs packages from the sources of this machine.',
    )
  return codename
}

const listSourceFiles = (): string[] =>
  globSync('/etc/apt/{sources.list,sources.list.d/*.{list,sources}}').toSorted()
