// Builds an old installation row by row. Missing fields get defaults.
import { createHash, pbkdf2Sync } from 'node:crypto'
import { createRandom } from '@manager/harness/random.ts'
import type {
  Id,
  OldApplication,
  OldBackend,
  OldEndpoint,
  OldInstall,
  OldMachine,
  OldMember,
  OldPilet,
  OldProject,
  OldSetting,
  OldTenant,
  OldToken,
  Owner,
} from './old-rows.ts'

export type Builder = ReturnType<typeof buildInstall>
export type BuilderOptions = { seed?: number; idType?: OldInstall['idType']; upstream?: string }

const sha256 = (bytes: string | Buffer): string => createHash('sha256').update(bytes).digest('hex')

/** Hashes a secret as the service does. The low iteration count keeps the tests fast. */
function slowHash(secret: string, salt: Buffer, iterations = 1_000): string {
  const bytes = pbkdf2Sync(secret, salt, iterations, 32, 'sha256')
  return `$pbkdf2-sha256$i=${iterations}$${salt.toString('base64url')}$${bytes.toString('base64url')}`
}

export function buildInstall({
  seed = 1,
  idType = 'uuid',
  upstream = 'https://up.example',
}: BuilderOptions = {}) {
  const random = createRandom(seed)
  let count = 0
  const newId = (): Id => {
    count += 1
    if (idType === 'bigint') return String(count)
    return idType === 'text' ? `row:${count}` : random.uuid()
  }
  const install: OldInstall = {
    idType,
    types: {},
    secrets: { machines: new Map(), tokens: new Map() },
    projects: [],
    tenants: [],
    applications: [],
    members: [],
    machines: [],
    backends: [],
    settings: [],
    endpoints: [],
    pilets: [],
    tokens: [],
  }
  const add = <T>(to: T[], row: T): T => {
    to.push(row)
    return row
  }
  return {
    install,
    random,
    upstream,
    newId,
    project: (given: Partial<OldProject> = {}): OldProject => {
      const id = newId()
      return add(install.projects, { id, name: `Project ${count}`, slug: `project-${count}`, ...given })
    },
    tenant: (project: { id: Id }, given: Partial<OldTenant> = {}): OldTenant => {
      const id = newId()
      const texts = {
        name: `Tenant ${count}`,
        slug: `tenant-${count}`,
        type: 'run',
        deployment_mode: 'shared',
      }
      return add(install.tenants, { id, project_id: project.id, ...texts, ...given })
    },
    /** Adds a clone. `tenant` is null for a template. */
    application: (tenant: { id: Id } | null, given: Partial<OldApplication> = {}): OldApplication => {
      const id = newId()
      const links = { tenant_id: tenant?.id ?? null, project_id: null, clone_of: null }
      const texts = { slug: `app-${count}`, name: `App ${count}`, description: '', enabled: true }
      return add(install.applications, { id, ...links, ...texts, ...given })
    },
    member: (
      tenant: { id: Id },
      user_id: string,
      role = 'member',
      given: Partial<OldMember> = {},
    ): OldMember =>
      add(install.members, { tenant_id: tenant.id, user_id, role, name: 'Somebody', email: '', ...given }),
    setting: (owner: Owner, of: { id: Id }, frontend: unknown = {}, backend: unknown = {}): OldSetting =>
      add(install.settings, { id: newId(), owner, owner_id: of.id, backend, frontend }),
    ...callers(install, { random, newId, add, upstream }),
  }
}

type Parts = {
  random: ReturnType<typeof createRandom>
  newId: () => Id
  add: <T>(to: T[], row: T) => T
  upstream: string
}

function callers(install: OldInstall, { random, newId, add, upstream }: Parts) {
  const machine = (tenant: { id: Id }, row: Partial<OldMachine>): OldMachine => {
    const none = { username: '', enabled: true, token_prefix: null, token_hash: null, password_hash: null }
    return add(install.machines, { id: newId(), tenant_id: tenant.id, name: 'Machine', ...none, ...row })
  }
  return {
    /** Adds a machine user with a token. */
    bearer: (tenant: { id: Id }, given: Partial<OldMachine> & { token?: string } = {}): OldMachine => {
      const { token = random.bytes(32).toString('base64url'), ...rest } = given
      const kept = { token_prefix: token.slice(0, 8), token_hash: sha256(token) }
      const row = machine(tenant, { username: `Bearer:${token.slice(0, 8)}`, ...kept, ...rest })
      install.secrets.machines.set(row.id, { token })
      return row
    },
    /** Adds a machine user with a user name and a password. */
    basic: (
      tenant: { id: Id },
      given: Partial<OldMachine> & { password?: string; iterations?: number } = {},
    ): OldMachine => {
      const { password = random.text(20), iterations, ...rest } = given
      const hash = slowHash(password, random.bytes(16), iterations)
      const row = machine(tenant, { username: `user-${random.text(6)}`, password_hash: hash, ...rest })
      install.secrets.machines.set(row.id, { password })
      return row
    },
    machine,
    backend: (application: { id: Id }, by: { id: Id }, given: Partial<OldBackend> = {}): OldBackend => {
      const links = { application_id: application.id, machine_user_id: by.id }
      const call = { callback_url: 'https://backend.example/callback', callback_token: random.text(40) }
      return add(install.backends, { id: newId(), ...links, ...call, version: '1.0', ...given })
    },
    endpoint: (application: { id: Id }, given: Partial<OldEndpoint> = {}): OldEndpoint => {
      const texts = { name: 'Orders', description: '', enabled: true, log_level: 'BASIC' }
      const call = { consume_url: '/orders', url: `${upstream}/orders`, transformation_template: '' }
      const auth = { auth_type: 'None', auth_username: '', auth_password: null, auth_token: null }
      const forms = { input_message_type: null, output_message_type: null, callers: [] }
      const links = { id: newId(), application_id: application.id }
      return add(install.endpoints, { ...links, ...texts, ...call, ...auth, ...forms, ...given })
    },
    pilet: (project: { id: Id }, given: Partial<OldPilet> & { bytes?: Buffer } = {}): OldPilet => {
      const { bytes = random.bytes(64), ...rest } = given
      const texts = { name: '@acme/menu', version: '1.0.0', description: '', content_type: 'text/javascript' }
      const content = { content: bytes.toString('hex'), hash: sha256(bytes), enabled: true }
      return add(install.pilets, { id: newId(), project_id: project.id, ...texts, ...content, ...rest })
    },
    token: (user_id: string, given: Partial<OldToken> & { iterations?: number } = {}): OldToken => {
      const { iterations, ...rest } = given
      const [prefix, secret] = [given.token_prefix ?? random.text(8), random.text(32)]
      const text = `pat_${prefix}_${secret}`
      const texts = { user_name: 'Somebody', user_email: '', name: 'token', token_prefix: prefix }
      const state = { hash: slowHash(text, random.bytes(16), iterations), expires_at: null, revoked: false }
      const row = add(install.tokens, { id: newId(), user_id, ...texts, ...state, ...rest })
      install.secrets.tokens.set(row.id, text)
      return row
    },
  }
}
