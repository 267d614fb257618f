// The rows of an old installation, as its views return them. Creation times follow the order of each list.

export type Id = string
export type OldProject = { id: Id; name: string; slug: string }
export type OldTenant = {
  id: Id
  project_id: Id
  name: string
  slug: string
  type: string
  deployment_mode: string
}
export type OldApplication = {
  id: Id
  tenant_id: Id | null
  project_id: Id | null
  clone_of: Id | null
  slug: string
  name: string
  description: string
  enabled: boolean
}
export type OldMember = { tenant_id: Id; user_id: string; role: string; name: string; email: string }
export type OldMachine = {
  id: Id
  tenant_id: Id
  name: string
  username: string
  enabled: boolean
  token_prefix: string | null
  /** The hash of the token, in hexadecimal. */
  token_hash: string | null
  password_hash: string | null
}
export type OldBackend = {
  id: Id
  application_id: Id
  machine_user_id: Id
  callback_url: string
  callback_token: string | null
  version: string
}
export type Owner = 'project' | 'tenant' | 'application'
export type OldSetting = { id: Id; owner: Owner; owner_id: Id; backend: unknown; frontend: unknown }
export type OldEndpoint = {
  id: Id
  application_id: Id
  name: string
  description: string
  enabled: boolean
  consume_url: string
  url: string | null
  auth_type: string
  auth_username: string
  auth_password: string | null
  auth_token: string | null
  input_message_type: string | null
  output_message_type: string | null
  transformation_template: string
  log_level: string
  callers: Id[]
}
export type OldPilet = {
  id: Id
  project_id: Id
  name: string
  version: string
  description: string
  content_type: string
  /** The bytes of the pilet, in hexadecimal. */
  content: string
  hash: string | null
  enabled: boolean
}
export type OldToken = {
  id: Id
  user_id: string
  user_name: string
  user_email: string
  name: string
  token_prefix: string
  hash: string
  expires_at: string | null
  revoked: boolean
}

type OldRows = {
  projects: OldProject[]
  tenants: OldTenant[]
  applications: OldApplication[]
  members: OldMember[]
  machines: OldMachine[]
  backends: OldBackend[]
  settings: OldSetting[]
  endpoints: OldEndpoint[]
  pilets: OldPilet[]
  tokens: OldToken[]
}

export type OldInstall = OldRows & {
  /** The type of all ids except user ids. */
  idType: 'uuid' | 'bigint' | 'text'
  /** The environments for custom tenant types, which the operator must pass to the import. */
  types: Record<string, 'dev' | 'qas' | 'run'>
  /** The secrets that callers send, by the id of their row. */
  secrets: {
    machines: Map<Id, { token: string } | { password: string }>
    tokens: Map<Id, string>
  }
}
