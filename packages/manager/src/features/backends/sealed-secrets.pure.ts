// This file names the columns that store the sealed secrets of registrations, and the address that each secret is bound
// to.

const table = 'backend_registrations'
export const secretColumns = { table, columns: ['callback_token', 'signing_secret'] } as const

/** Returns the address to which the callback token of a registration is bound. */
export const tokenAddress = (id: string) => ({ table, column: secretColumns.columns[0], id })

/** Returns the address to which the signing secret of a registration is bound. */
export const signingSecretAddress = (id: string) => ({ table, column: secretColumns.columns[1], id })
