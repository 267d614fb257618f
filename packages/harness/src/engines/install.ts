// Locates the programs that tests run: PostgreSQL, Redis and, if needed, Chromium, nginx (with njs), Apache, OpenLDAP,
// PyNaCl, LibreOffice, Ceph, Prometheus and Patroni. Missing packages are installed on Debian as root.
// Elsewhere, the error lists them.
import { execFileSync } from 'node:child_process'
import { existsSync, globSync } from 'node:fs'

/** Returns the program folder of the newest installed PostgreSQL, or null. */
function postgresBin(): string | null {
  const found = globSync('/usr/lib/postgresql/*/bin/initdb').toSorted(byVersion).at(-1)
  if (found !== undefined) return found.slice(0, -'/initdb'.length)
  const onPath = which('initdb')
  return onPath === null ? null : onPath.slice(0, -'/initdb'.length)
}

/** Returns the Redis or Valkey server program. */
const redisServer = (): string | null => which('redis-server') ?? which('valkey-server')

const byVersion = (a: string, b: string): number => Number(a.split('/')[4]) - Number(b.split('/')[4])

function which(program: string): string | null {
  try {
    return execFileSync('sh', ['-c', `command -v ${program}`], { encoding: 'utf8' }).trim()
  } catch {
    return null
  }
}

/** Returns the PostgreSQL program folder. Installs PostgreSQL if it is missing. */
export function ensurePostgres(): string {
  if (postgresBin() === null) install(['postgresql'])
  return postgresBin() as string
}

/** Returns the Redis or Valkey server program. Installs Redis if both are missing. */
export function ensureRedis(): string {
  if (redisServer() === null) install(['redis-server'])
  return redisServer() as string
}

/** Installs the Go compiler, which builds the Go example. */
export const ensureGo = (): void => ensurePrograms({ go: 'golang-go' })

/** Installs curl, which runs the examples in docs/. */
export const ensureCurl = (): void => ensurePrograms({ curl: 'curl' })

/** Installs the `ip` command, which sets up network namespaces. */
export const ensureIp = (): void => ensurePrograms({ ip: 'iproute2' })

const browsers = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome']

/**
 * Returns Chromium. Installs it if it is missing. The headless shell opens a page in a third of the time that
 * the full browser needs.
 */
export function ensureChromium(): string {
  const present = browsers.map(which).find((program) => program !== null)
  if (present !== undefined) return present
  install(['chromium-headless-shell'])
  return '/usr/bin/chromium-headless-shell'
}

/** Returns the tmux program. Installs it if it is missing. */
export function ensureTmux(): string {
  const present = which('tmux')
  if (present !== null) return present
  install(['tmux'])
  return '/usr/bin/tmux'
}

/** Installs the shells whose completion scripts `svc completion` prints. */
export const ensureShells = (): void => ensurePrograms({ bash: 'bash', zsh: 'zsh', fish: 'fish' })

/** Returns the nginx program. Installs it if it is missing. */
export function ensureNginx(): string {
  // Some users do not have /usr/sbin in their PATH.
  const present = which('nginx') ?? (existsSync('/usr/sbin/nginx') ? '/usr/sbin/nginx' : null)
  if (present !== null) return present
  install(['nginx-light'])
  return '/usr/sbin/nginx'
}

/** Returns the PgBouncer program. Installs it if it is missing. */
export function ensurePgBouncer(): string {
  const present = which('pgbouncer') ?? (existsSync('/usr/sbin/pgbouncer') ? '/usr/sbin/pgbouncer' : null)
  if (present !== null) return present
  install(['pgbouncer'])
  return '/usr/sbin/pgbouncer'
}

/** Returns the OpenLDAP server. Installs it with its command-line tools if it is missing. */
export function ensureSlapd(): string {
  const missing = [
    ...(existsSync('/usr/sbin/slapd') ? [] : ['slapd']),
    ...(which('ldapsearch') === null ? ['ldap-utils'] : []),
  ]
  install(missing)
  return '/usr/sbin/slapd'
}

/** Returns nginx and its njs module. Installs them if they are missing. */
export function ensureNginxJs(): { nginx: string; module: string } {
  const nginx = ensureNginx()
  const find = (): string | undefined => globSync('/usr/{lib,lib64}/nginx/modules/ngx_http_js_module.so')[0]
  if (find() === undefined) install(['libnginx-mod-http-js'])
  return { nginx, module: find() ?? '/usr/lib/nginx/modules/ngx_http_js_module.so' }
}

/**
 * Returns Apache and its module folder. Installs the packages that deploy/proxy/apache needs if they are
 * missing.
 */
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

/** Returns a Python with PyNaCl. Installs the module if it is missing. */
export function ensurePythonNacl(): string {
  // Tries Debian's Python first: python3-nacl installs into it, and PATH may list a different Python first.
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

/** Returns LibreOffice. Installs it with Calc if it is missing. */
export function ensureLibreOffice(): string {
  const present = which('soffice')
  if (present !== null) return present
  install(['libreoffice-calc-nogui'])
  return '/usr/bin/soffice'
}

/** Returns prometheus and promtool. Installs them if they are missing. */
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

/** Installs the Ceph programs that s3.ts runs. */
export function ensureCeph(): void {
  ensurePrograms(cephPackages)
}

/** Installs mmdebstrap, which builds the root file system of a runner (tools/runner-root.ts). */
export function ensureMmdebstrap(): void {
  ensurePrograms({ mmdebstrap: 'mmdebstrap' })
}

/** Installs the tools that build a Kubernetes API server (kubernetes-build.ts). */
export function ensureKubernetesBuild(): void {
  ensurePrograms({ go: 'golang-go', 'dpkg-source': 'dpkg-dev' })
}

/** Installs etcd, which the API server requires, and kubectl. */
export function ensureKubernetesTools(): void {
  ensurePrograms({ etcd: 'etcd-server', kubectl: 'kubernetes-client' })
}

/**
 * Installs the tools for a highly available PostgreSQL, a load balancer and network partitions. Patroni uses etcd's v2
 * API through python3-etcd.
 */
export function ensureHighAvailability(): void {
  const programs = Object.entries(highAvailabilityPackages).filter(
    ([program]) => which(program) === null && !existsSync(`/usr/sbin/${program}`),
  )
  const packages = programs.map(([, name]) => name)
  if (!existsSync('/usr/lib/python3/dist-packages/etcd')) packages.push('python3-etcd')
  if (packages.length === 0) return
  // This check runs before systemctl: without root, the systemctl error does not name the packages.
  refuseUnlessInstallable(packages)
  // systemd ignores RUNLEVEL. To prevent automatic starts, the units are therefore masked until the next boot and
  // disabled after that.
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

/** Minimum versions of packages whose version differs between Debian releases. */
const minimumVersions: Record<string, string> = { postgresql: '15 or newer', 'redis-server': '7 or newer' }

/** Throws an error that names the packages. The error has no stack, because the caller is not the cause. */
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
  // RUNLEVEL=1 prevents the packages from starting their services.
  const env = ['env', 'DEBIAN_FRONTEND=noninteractive', 'RUNLEVEL=1']
  const aptGet = ['apt-get', '-qq', '-o', 'DPkg::Lock::Timeout=300']
  // Test files run in parallel, but apt allows only one process. The other processes wait for the lock.
  const apt = (...args: string[]): void =>
    void execFileSync('flock', [lockFile, ...env, ...aptGet, ...args], {
      stdio: ['ignore', 'ignore', 'inherit'],
    })
  apt('update')
  apt('install', '-y', '--no-install-recommends', ...packages)
}
