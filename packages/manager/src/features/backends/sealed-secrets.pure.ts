// Defines the columns that store sealed secrets of registrations, and the row and column to which each secret is
// bound.

const table = 'backend_registrations'
export const secretColumns = { table, columns: ['callback_token', 'signing_secret'] } as const

/** Returns the row and column to which the callback token of a registration is bound. */
export const getTokenLocation = (id: string) => ({ table, column: secretColumns.columns[0], id })

/** Returns the row and column to which the signing secret of a registration is bound. */
export const getSigningSecretLocation = (id: string) => ({ table, column: secretColumns.columns[1], id })
