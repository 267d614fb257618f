// Runs a private OpenLDAP server in its own folder, with entries that are loaded before the start.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Certificate } from '../certificates.ts'
import { ensureSlapd } from './install.ts'
import { acceptsConnections } from './nginx.ts'
import { findAccount, freePort } from './postgres.ts'

export type SlapdOptions = {
  /** Entries below `slapdBase`, as LDIF. */
  ldif: string
  /** Enables ldaps:// and StartTLS. */
  tls?: { ca: Certificate; server: Certificate }
  /** Additional lines for the configuration. */
  more?: string
}

export type Slapd = {
  url: string
  tlsUrl: string
  /** Suspends the process: it accepts connections and never answers. */
  suspend(): Promise<void>
  resume(): void
  /** Stops the server and keeps its entries. */
  stop(): Promise<void>
  start(): Promise<void>
  /** Stops the server and removes its folder. */
  close(): Promise<void>
}

export const slapdBase = 'dc=example,dc=org'
/** An account that can read all entries. Anonymous clients can read nothing. */
export const slapdReader = { dn: `cn=reader,${slapdBase}`, password: 'the-password-of-the-reader' }

const root = `dn: ${slapdBase}
objectClass: dcObject
objectClass: organization
dc: example
o: Example

dn: ${slapdReader.dn}
objectClass: organizationalRole
objectClass: simpleSecurityObject
cn: reader
userPassword: ${slapdReader.password}

dn: ou=people,${slapdBase}
objectClass: organizationalUnit
ou: people

`

// Attributes of Active Directory, and a boolean attribute for disabled accounts.
const schema = `
attributetype ( 1.2.840.113556.1.4.2 NAME 'objectGUID' EQUALITY octetStringMatch
  SYNTAX 1.3.6.1.4.1.1466.115.121.1.40 SINGLE-VALUE )
attributetype ( 1.2.840.113556.1.4.8 NAME 'userAccountControl' EQUALITY integerMatch
  SYNTAX 1.3.6.1.4.1.1466.115.121.1.27 SINGLE-VALUE )
attributetype ( 1.2.840.113556.1.4.221 NAME 'sAMAccountName' EQUALITY caseIgnoreMatch
  SUBSTR caseIgnoreSubstringsMatch SYNTAX 1.3.6.1.4.1.1466.115.121.1.15 SINGLE-VALUE )
attributetype ( 1.3.6.1.4.1.4203.666.1.900 NAME 'accountDisabled' EQUALITY booleanMatch
  SYNTAX 1.3.6.1.4.1.1466.115.121.1.7 SINGLE-VALUE )
objectclass ( 1.3.6.1.4.1.4203.666.3.900 NAME 'testAccount' AUXILIARY
  MAY ( objectGUID $ userAccountControl $ sAMAccountName $ accountDisabled ) )
`

const createConfiguration = (folder: string, { tls, more = '' }: SlapdOptions): string => `
include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/inetorgperson.schema
${schema}
pidfile ${folder}/pid
modulepath /usr/lib/ldap
moduleload back_mdb
sizelimit 5000
# Three characters are the shortest text that is searched inside a value.
index_substr_any_len 3
index_substr_any_step 1
${
  tls === undefined
    ? ''
    : `TLSCACertificateFile ${folder}/ca.pem
TLSCertificateFile ${folder}/server.pem
TLSCertificateKeyFile ${folder}/server.key`
}
database mdb
suffix "${slapdBase}"
rootdn "cn=admin,${slapdBase}"
directory ${folder}/data
maxsize 1073741824
access to attrs=userPassword by anonymous auth by * none
access to * by users read by * none
index objectClass eq
index cn,uid,mail,sAMAccountName eq,sub
index entryUUID,objectGUID eq
${more}
`

/** Starts slapd on free loopback ports and waits until it accepts connections. */
export async function startSlapd(options: SlapdOptions): Promise<Slapd> {
  const folder = mkdtempSync(path.join(tmpdir(), 'slapd-'))
  // Ubuntu confines the installed program to its own folders.
  const program = path.join(folder, 'slapd')
  copyFileSync(ensureSlapd(), program)
  chmodSync(program, 0o755)
  const account = process.getuid?.() === 0 ? findAccount('openldap') : null
  const own = (file: string): void => {
    if (account !== null) chownSync(file, account.uid, account.gid)
  }
  const write = (name: string, text: string): string => {
    const file = path.join(folder, name)
    writeFileSync(file, text)
    own(file)
    return file
  }
  const { tls, ldif } = options
  const configuration = write('slapd.conf', createConfiguration(folder, options))
  if (tls !== undefined) {
    write('ca.pem', tls.ca.cert)
    write('server.pem', tls.server.cert)
    write('server.key', tls.server.key)
  }
  mkdirSync(path.join(folder, 'data'))
  for (const name of ['', 'data']) own(path.join(folder, name))
  const entries = write('entries.ldif', root + ldif)
  try {
    execFileSync(program, ['-T', 'add', '-q', '-f', configuration, '-l', entries], {
      stdio: ['ignore', 'ignore', 'pipe'],
      cwd: folder,
      ...account,
    })
  } catch (error) {
    throw new Error(`slapadd: ${String((error as { stderr: unknown }).stderr)}`, { cause: error })
  }
  const [port, tlsPort] = [await freePort(), await freePort()]
  const addresses = [
    `ldap://127.0.0.1:${port}`,
    ...(tls === undefined ? [] : [`ldaps://127.0.0.1:${tlsPort}`]),
  ]
  const run = createRunner({
    program,
    args: ['-f', configuration, '-h', addresses.join(' '), '-d', '0'],
    port,
    account,
  })
  await run.start()
  return {
    url: `ldap://127.0.0.1:${port}`,
    tlsUrl: `ldaps://127.0.0.1:${tlsPort}`,
    start: run.start,
    stop: run.stop,
    suspend: run.suspend,
    resume: run.resume,
    close: async () => {
      await run.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const isSuspended = (pid: number): boolean =>
  readdirSync(`/proc/${pid}/task`).every((task) =>
    readFileSync(`/proc/${pid}/task/${task}/stat`, 'utf8').includes(') T '),
  )

type Program = { program: string; args: string[]; port: number; account: { uid: number; gid: number } | null }

/** Starts and stops the process. */
function createRunner({ program, args, port, account }: Program) {
  let child: ChildProcess | null = null
  let gone: Promise<void> = Promise.resolve()
  return {
    /** Waits until every thread has stopped, because the signal takes effect later. */
    suspend: async (): Promise<void> => {
      child?.kill('SIGSTOP')
      while (!isSuspended(child?.pid ?? 0)) await new Promise((resolve) => setTimeout(resolve, 10))
    },
    resume: (): void => void child?.kill('SIGCONT'),
    start: async (): Promise<void> => {
      const started = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'], ...account })
      let stderr = ''
      started.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
      gone = new Promise((resolve) => started.once('exit', () => resolve()))
      child = started
      for (let tries = 0; !(await acceptsConnections(port)); tries++) {
        if (tries > 600 || started.exitCode !== null) throw new Error(`slapd did not start: ${stderr}`)
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    },
    stop: async (): Promise<void> => {
      const running = child
      // A suspended process handles the signal after it continues.
      running?.kill('SIGTERM')
      running?.kill('SIGCONT')
      const late = setTimeout(() => running?.kill('SIGKILL'), 3_000)
      await gone
      clearTimeout(late)
      child = null
    },
  }
}
