// Hints: what sockets are told. A hint is a JSON text that is built once, whoever gets it; the inbox stays the truth.

/** Who of those that hold sockets for a tenant and an application gets a hint. */
export type Audience =
  /** Every socket of the tenant and application. */
  | { everyone: true }
  /** These users, holders of these roles of the tenant, and, if asked, every member of the tenant. */
  | { users: readonly string[]; roles: readonly string[]; members: boolean }

export type Hint = {
  tenantId: string
  applicationId: string
  audience: Audience
  /** The frame, as JSON. */
  text: string
  /** Left out for a consumer that does not keep up; without it such a consumer is closed. */
  mayDrop: boolean
  /** The connection that caused it, and needs no hint. */
  exceptConnection?: string
}

/** Tells the sockets of this process, and the other processes; never waits, never throws. */
export type SendHint = (hint: Hint) => void
