// A hint is a best-effort message to open sockets. Its JSON is built once for all recipients. The inbox
// remains the source of truth.

/** The recipients of a hint among the sockets of a tenant and application. */
export type Audience =
  /** Every socket of the tenant and application. */
  | { everyone: true }
  /** These users, users with these tenant roles, and all tenant members if `members` is true. */
  | { users: readonly string[]; roles: readonly string[]; members: boolean }

export type Hint = {
  tenantId: string
  applicationId: string
  audience: Audience
  /** The frame, as JSON. */
  text: string
  /** If true, the hint is dropped for slow clients. If false, slow clients are disconnected instead. */
  mayDrop: boolean
  /** The connection that caused the hint and does not receive it. */
  exceptConnection?: string
}

/** Sends a hint to the sockets of all processes without waiting. Never throws. */
export type SendHint = (hint: Hint) => void
