// The views of an old installation that the import reads, with their columns and types. Ids of any type are
// read as text. An optional column may be missing and then has its default value.

export type ViewName =
  | 'projects'
  | 'tenants'
  | 'applications'
  | 'tenant_members'
  | 'machine_users'
  | 'backends'
  | 'settings'
  | 'endpoints'
  | 'pilets'
  | 'tokens'

type Column = {
  /** The type to which the column is cast. */
  as: 'text' | 'boolean' | 'jsonb' | 'bytea' | 'timestamptz' | 'text[]'
  required?: true
  /** The value of a missing column. It also replaces null, unless `unknown` is set. */
  missing?: string
  /** Replaces null with the restrictive value: not enabled, or revoked. */
  unknown?: string
  /** Whether the column is an id. A UUID may be in upper case. */
  isId?: true
}
type View = {
  columns: Record<string, Column>
  /** The columns that identify a row. */
  key: readonly string[]
}

const id: Column = { as: 'text', required: true, isId: true }
const nullableId: Column = { as: 'text', isId: true }
const required: Column = { as: 'text', required: true }
const text: Column = { as: 'text', missing: `''` }
const nullable: Column = { as: 'text' }
const time: Column = { as: 'timestamptz' }
const defaultTrue: Column = { as: 'boolean', missing: 'true', unknown: 'false' }
const defaultFalse: Column = { as: 'boolean', missing: 'false', unknown: 'true' }

/** All views, in the order in which they are imported. */
export const views: Record<ViewName, View> = {
  projects: { key: ['id'], columns: { id, name: required, slug: required, created_at: time } },
  tenants: {
    key: ['id'],
    columns: {
      id,
      project_id: id,
      name: required,
      slug: required,
      type: required,
      deployment_mode: text,
      created_at: time,
    },
  },
  // An application without a tenant is a template for clones. It names its project.
  applications: {
    key: ['id'],
    columns: {
      id,
      tenant_id: id,
      project_id: nullableId,
      clone_of: nullableId,
      slug: required,
      name: required,
      description: text,
      enabled: defaultTrue,
      created_at: time,
    },
  },
  tenant_members: {
    key: ['tenant_id', 'user_id', 'role'],
    columns: {
      tenant_id: id,
      user_id: id,
      role: required,
      name: text,
      email: text,
      created_at: time,
    },
  },
  // A machine user has a token (its SHA-256 and first 8 characters) or a user name and a password (its PBKDF2 hash).
  machine_users: {
    key: ['id'],
    columns: {
      id,
      tenant_id: id,
      name: required,
      username: text,
      enabled: defaultTrue,
      token_prefix: nullable,
      token_hash: { as: 'bytea' },
      password_hash: nullable,
      last_rotated_at: time,
      created_at: time,
    },
  },
  backends: {
    key: ['id'],
    columns: {
      id,
      application_id: id,
      machine_user_id: id,
      callback_url: required,
      callback_token: nullable,
      version: text,
      last_heartbeat: time,
      created_at: time,
    },
  },
  // A row names exactly one project, tenant or application. Applications override tenants, and tenants override
  // projects.
  settings: {
    key: ['id'],
    columns: {
      id,
      project_id: id,
      tenant_id: id,
      application_id: id,
      backend_module_config: { as: 'jsonb', required: true },
      frontend_module_config: { as: 'jsonb', required: true },
    },
  },
  // `callers` are the machine users that may call the endpoint.
  endpoints: {
    key: ['id'],
    columns: {
      id,
      application_id: id,
      name: required,
      description: text,
      enabled: defaultTrue,
      consume_url: required,
      url: nullable,
      auth_type: { as: 'text', missing: `'None'` },
      auth_username: text,
      auth_password: nullable,
      auth_token: nullable,
      input_message_type: nullable,
      output_message_type: nullable,
      transformation_template: text,
      log_level: { as: 'text', missing: `'BASIC'` },
      callers: { as: 'text[]', missing: `'{}'` },
      created_at: time,
    },
  },
  pilets: {
    key: ['id'],
    columns: {
      id,
      project_id: id,
      name: required,
      version: required,
      description: text,
      content_type: text,
      content: { as: 'bytea', required: true },
      hash: nullable,
      enabled: defaultTrue,
      created_at: time,
    },
  },
  tokens: {
    key: ['id'],
    columns: {
      id,
      user_id: id,
      user_name: text,
      user_email: text,
      name: required,
      token_prefix: required,
      hash: required,
      expires_at: time,
      revoked: defaultFalse,
      last_used_at: time,
      created_at: time,
    },
  },
}

export const viewNames = Object.keys(views) as ViewName[]
