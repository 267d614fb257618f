// The rows of an old installation, as the import reads them. `project` is the id of the project that a row
// belongs to, or empty.
import type { ViewName } from './views.ts'

type ReadRow = { project: string; created_at: string | null }
type TenantRow = ReadRow & { id: string; tenant_id: string | null }
type ApplicationRow = ReadRow & { id: string; application_id: string | null }

export type OldProject = ReadRow & { id: string; name: string | null; slug: string | null }
export type OldTenant = ReadRow & {
  id: string
  project_id: string | null
  name: string | null
  slug: string | null
  type: string | null
  deployment_mode: string | null
}
export type OldApplication = TenantRow & {
  clone_of: string | null
  slug: string | null
  name: string | null
  description: string | null
  enabled: boolean | null
}
export type OldMember = ReadRow & {
  tenant_id: string | null
  user_id: string | null
  role: string | null
  name: string | null
  email: string | null
  /** 1 for the row with the person's highest role in a tenant. */
  rank: number
}
export type OldMachineUser = TenantRow & {
  name: string | null
  username: string | null
  enabled: boolean | null
  token_prefix: string | null
  token_hash: Buffer | null
  password_hash: string | null
  last_rotated_at: string | null
  /** If several machine users have the same token, the id and the project of the machine user that keeps it. */
  holder: string
  holder_project: string
}
export type OldBackend = ApplicationRow & {
  machine_user_id: string | null
  callback_url: string | null
  callback_token: string | null
  version: string | null
  last_heartbeat: string | null
}
export type OldSettings = ApplicationRow & {
  project_id: string | null
  tenant_id: string | null
  /**
   * The tenant that the settings apply to: their own tenant, or the tenant of their application. Empty if
   * there is none.
   */
  tenant: string
  backend_module_config: unknown
  frontend_module_config: unknown
}
export type OldEndpoint = ApplicationRow & {
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
export type OldPilet = ReadRow & {
  id: string
  project_id: string | null
  name: string | null
  version: string | null
  description: string | null
  content_type: string | null
  /** Null if there is no content, or if the content exceeds the maximum size. */
  content: Buffer | null
  size: number
  hash: string | null
  enabled: boolean | null
}
export type OldToken = ReadRow & {
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
  /** If several tokens have the same prefix, the id of the token that keeps the prefix. */
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
} & Record<ViewName, ReadRow>
