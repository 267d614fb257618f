// Rows of an old installation as they are read. `project` is the id of the project that a row belongs to, or empty.
import type { ViewName } from './views.ts'

type Read = { project: string; created_at: string | null }
type OfTenant = Read & { id: string; tenant_id: string | null }
type OfApplication = Read & { id: string; application_id: string | null }

export type OldProject = Read & { id: string; name: string | null; slug: string | null }
export type OldTenant = Read & {
  id: string
  project_id: string | null
  name: string | null
  slug: string | null
  type: string | null
  deployment_mode: string | null
}
export type OldApplication = OfTenant & {
  clone_of: string | null
  slug: string | null
  name: string | null
  description: string | null
  enabled: boolean | null
}
export type OldMember = Read & {
  tenant_id: string | null
  user_id: string | null
  role: string | null
  name: string | null
  email: string | null
  /** 1 for the row with the highest role of a person in a tenant. */
  rank: number
}
export type OldMachineUser = OfTenant & {
  name: string | null
  username: string | null
  enabled: boolean | null
  token_prefix: string | null
  token_hash: Buffer | null
  password_hash: string | null
  last_rotated_at: string | null
  /** The machine user that keeps the token if several have the same one, and its project. */
  holder: string
  holder_project: string
}
export type OldBackend = OfApplication & {
  machine_user_id: string | null
  callback_url: string | null
  callback_token: string | null
  version: string | null
  last_heartbeat: string | null
}
export type OldSettings = OfApplication & {
  project_id: string | null
  tenant_id: string | null
  /** The tenant that it applies to: its own tenant, or that of its application. Empty if there is none. */
  tenant: string
  backend_module_config: unknown
  frontend_module_config: unknown
}
export type OldEndpoint = OfApplication & {
  name: string | null
  description: string | null
  enabled: boolean | null
  consume_url: string | null
  url: string | null
  auth_type: string | null
  auth_username: string | null
  auth_password: string | null
  auth_token: string | null
  input_message_type: string | null
  output_message_type: string | null
  transformation_template: string | null
  log_level: string | null
  callers: string[] | null
}
export type OldPilet = Read & {
  id: string
  project_id: string | null
  name: string | null
  version: string | null
  description: string | null
  content_type: string | null
  /** Null if there is no content, or if it exceeds the maximum size. */
  content: Buffer | null
  size: number
  hash: string | null
  enabled: boolean | null
}
export type OldToken = Read & {
  id: string
  user_id: string | null
  user_name: string | null
  user_email: string | null
  name: string | null
  token_prefix: string | null
  hash: string | null
  expires_at: string | null
  revoked: boolean | null
  last_used_at: string | null
  /** The token that keeps the prefix if several tokens have the same one. */
  holder: string
}

export type OldRows = {
  projects: OldProject
  tenants: OldTenant
  applications: OldApplication
  tenant_members: OldMember
  machine_users: OldMachineUser
  backends: OldBackend
  settings: OldSettings
  endpoints: OldEndpoint
  pilets: OldPilet
  tokens: OldToken
} & Record<ViewName, Read>
