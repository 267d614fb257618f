// The columns that store the sealed secrets of registrations, and the address that each secret is bound to.

const table = 'backend_registrations'
export const secretColumns = { table, columns: ['callback_token', 'signing_secret'] } as const

/** Where the callback token of a registration is stored. */
export const tokenPlace = (id: string) => ({ table, column: secretColumns.columns[0], id })

/** Where the signing secret of a registration is stored. */
export const signingSecretPlace = (id: string) => ({ table, column: secretColumns.columns[1], id })
