// Makes sure that PostgreSQL, Redis and, where they are needed, Chromium, nginx (with njs), Apache, PyNaCl, LibreOffice, Ceph, Prometheus and Patroni are
// there: on Debian, as root, they are installed; elsewhere the message says what is missing.
import { execFileSync } from 'node:child_process'
import { existsSync, globSync } from 'node:fs'

/** The folder with PostgreSQL's programs, the newest version first. */
function postgresBin(): string | null {
  const found = globSync('/usr/lib/postgresql/*/bin/initdb').toSorted(byVersion).at(-1)
  if (found !== undefined) return found.slice(0, -'/initdb'.length)
  const onPath = which('initdb')
  return onPath === null ? null : onPath.slice(0, -'/initdb'.length)
}

/** The Redis or Valkey server program. */
const redisServer = (): string | null => which('redis-server') ?? which('valkey-server')

const byVersion = (a: string, b: string): number => Number(a.split('/')[4]) - Number(b.split('/')[4])

function which(program: string): string | null {
  try {
    return execFileSync('sh', ['-c', `command -v ${program}`], { encoding: 'utf8' }).trim()
  } catch {
    return null
  }
}

/** The folder with PostgreSQL's programs, installed first where that is possible. */
export function ensurePostgres(): string {
  if (postgresBin() === null) install(['postgresql'])
  return postgresBin() as string
}

/** The Redis or Valkey server program, installed first where that is possible. */
export function ensureRedis(): string {
  if (redisServer() === null) install(['redis-server'])
  return redisServer() as string
}

/** Installs the Go compiler, which builds the example in Go. */
export const ensureGo = (): void => ensurePrograms({ go: 'golang-go' })

/** Installs curl, with which the pages in docs/ are played. */
export const ensureCurl = (): void => ensurePrograms({ curl: 'curl' })

/** Installs ip, which prepares network namespaces. */
export const ensureIp = (): void => ensurePrograms({ ip: 'iproute2' })

const browsers = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome']

/** The Chromium program, installed first where that is possible. Its headless shell opens a page in a third of the time. */
export function ensureChromium(): string {
  const present = browsers.map(which).find((program) => program !== null)
  if (present !== undefined) return present
  install(['chromium-headless-shell'])
  return '/usr/bin/chromium-headless-shell'
}

/** The tmux program, installed first where that is possible. */
export function ensureTmux(): string {
  const present = which('tmux')
  if (present !== null) return present
  install(['tmux'])
  return '/usr/bin/tmux'
}

/** The nginx program, installed first where that is possible. */
export function ensureNginx(): string {
  // Its folder is not on the path of everybody.
  const present = which('nginx') ?? (existsSync('/usr/sbin/nginx') ? '/usr/sbin/nginx' : null)
  if (present !== null) return present
  install(['nginx-light'])
  return '/usr/sbin/nginx'
}

/** The PgBouncer program, installed first where that is possible. */
export function ensurePgBouncer(): string {
  const present = which('pgbouncer') ?? (existsSync('/usr/sbin/pgbouncer') ? '/usr/sbin/pgbouncer' : null)
  if (present !== null) return present
  install(['pgbouncer'])
  return '/usr/sbin/pgbouncer'
}

/** nginx with its njs module, installed first where that is possible. */
export function ensureNginxJs(): { nginx: string; module: string } {
  const nginx = ensureNginx()
  const find = (): string | undefined => globSync('/usr/{lib,lib64}/nginx/modules/ngx_http_js_module.so')[0]
  if (find() === undefined) install(['libnginx-mod-http-js'])
  return { nginx, module: find() ?? '/usr/lib/nginx/modules/ngx_http_js_module.so' }
}

/** Apache with what deploy/proxy/apache needs, installed first where that is possible. */
export function ensureApache(): { apache: string; modules: string } {
  const modules = '/usr/lib/apache2/modules'
  const needed: Record<string, string> = {
    '/usr/sbin/apache2': 'apache2',
    [`${modules}/mod_auth_openidc.so`]: 'libapache2-mod-auth-openidc',
    '/usr/share/lua/5.3/socket/http.lua': 'lua-socket',
    '/usr/share/lua/5.3/cjson': 'lua-cjson',
  }
  const missing = Object.entries(needed).filter(([file]) => !existsSync(file))
  install(missing.map(([, name]) => name))
  return { apache: '/usr/sbin/apache2', modules }
}

/** A Python with PyNaCl, installed first where that is possible. */
export function ensurePythonNacl(): string {
  // Debian's own first: its packages are for that one, and another may come earlier on the path.
  const hasNacl = (python: string): boolean => {
    try {
      execFileSync(python, ['-c', 'import nacl.public'], { stdio: 'ignore' })
      return true
    } catch {
      return false
    }
  }
  const present = ['/usr/bin/python3', which('python3') ?? ''].find(hasNacl)
  if (present !== undefined) return present
  install(['python3-nacl'])
  return '/usr/bin/python3'
}

/** The LibreOffice program with its spreadsheet, installed first where that is possible. */
export function ensureLibreOffice(): string {
  const present = which('soffice')
  if (present !== null) return present
  install(['libreoffice-calc-nogui'])
  return '/usr/bin/soffice'
}

/** The programs of Prometheus, installed first where that is possible. */
export function ensurePrometheus(): { prometheus: string; promtool: string } {
  if (which('prometheus') === null || which('promtool') === null) install(['prometheus'])
  return {
    prometheus: which('prometheus') ?? '/usr/bin/prometheus',
    promtool: which('promtool') ?? '/usr/bin/promtool',
  }
}

const cephPackages: Record<string, string> = {
  'ceph-mon': 'ceph-mon',
  'ceph-mgr': 'ceph-mgr',
  'ceph-osd': 'ceph-osd',
  radosgw: 'radosgw',
  ceph: 'ceph-common',
}

/** The programs of an S3 service (s3.ts). */
export function ensureCeph(): void {
  ensurePrograms(cephPackages)
}

/** The program that builds the file tree of a runner (tools/runner-root.ts). */
export function ensureMmdebstrap(): void {
  ensurePrograms({ mmdebstrap: 'mmdebstrap' })
}

/** What builds a Kubernetes API server (kubernetes-build.ts). */
export function ensureKubernetesBuild(): void {
  ensurePrograms({ go: 'golang-go', 'dpkg-source': 'dpkg-dev' })
}

/** What runs beside it, and its command line. */
export function ensureKubernetesTools(): void {
  ensurePrograms({ etcd: 'etcd-server', kubectl: 'kubernetes-client' })
}

/** What a highly available PostgreSQL, a balancer and partitions need. Patroni speaks etcd's v2 API by python3-etcd. */
export function ensureHighAvailability(): void {
  const programs = Object.entries(highAvailabilityPackages).filter(
    ([program]) => which(program) === null && !existsSync(`/usr/sbin/${program}`),
  )
  const packages = programs.map(([, name]) => name)
  if (!existsSync('/usr/lib/python3/dist-packages/etcd')) packages.push('python3-etcd')
  if (packages.length === 0) return
  // Before systemctl, which fails for other users with a sentence that names no package.
  refuseUnlessInstallable(packages)
  // systemd does not look at RUNLEVEL: until the next boot it starts none of these, and afterwards not by itself.
  const units = programs.map(([program]) => `${program}.service`).filter((unit) => unit !== 'ip.service')
  const systemctl = (...args: string[]): void => {
    if (units.length > 0 && existsSync('/run/systemd/system'))
      execFileSync('systemctl', [...args, ...units], { stdio: 'ignore' })
  }
  systemctl('mask', '--runtime')
  install(packages)
  systemctl('disable')
}

const highAvailabilityPackages: Record<string, string> = {
  patroni: 'patroni',
  etcd: 'etcd-server',
  haproxy: 'haproxy',
  nft: 'nftables',
  ip: 'iproute2',
}

function ensurePrograms(packages: Record<string, string>): void {
  const missing = Object.entries(packages).filter(([program]) => which(program) === null)
  install(missing.map(([, name]) => name))
}

/** The versions that the service supports, where Debian releases differ. */
const minimumVersions: Record<string, string> = { postgresql: '15 or newer', 'redis-server': '7 or newer' }

/** Throws one sentence that names the packages, without a stack: the caller is not the cause. */
function refuseUnlessInstallable(packages: string[]): void {
  if (process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')) return
  const named = packages.map((name) => {
    const version = minimumVersions[name]
    return version === undefined ? name : `${name} (${version})`
  })
  const last = named.pop() ?? ''
  const list = named.length === 0 ? `package ${last}` : `packages ${named.join(', ')} and ${last}`
  const command = `sudo apt-get install -y ${packages.join(' ')}`
  const error = new Error(`Install the Debian ${list}, then run the tests again: ${command}`)
  error.stack = error.message
  throw error
}

const lockFile = '/tmp/manager-test-install.lock'

function install(packages: string[]): void {
  if (packages.length === 0) return
  refuseUnlessInstallable(packages)
  process.stderr.write(`installing ${packages.join(', ')} ...\n`)
  // RUNLEVEL=1 keeps the packages from starting services of their own.
  const env = ['env', 'DEBIAN_FRONTEND=noninteractive', 'RUNLEVEL=1']
  const patient = ['apt-get', '-qq', '-o', 'DPkg::Lock::Timeout=300']
  // Test files run side by side, and apt takes one at a time: the others wait.
  const apt = (...args: string[]): void =>
    void execFileSync('flock', [lockFile, ...env, ...patient, ...args], {
      stdio: ['ignore', 'ignore', 'inherit'],
    })
  apt('update')
  apt('install', '-y', '--no-install-recommends', ...packages)
}
