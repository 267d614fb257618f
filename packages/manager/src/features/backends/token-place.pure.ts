// The column that holds sealed callback tokens, and what each of them is bound to.

export const tokenColumn = { table: 'backend_registrations', columns: ['callback_token'] } as const

/** Where the token of a registration is stored. */
export const tokenPlace = (id: string) => ({
  table: tokenColumn.table,
  column: tokenColumn.columns[0],
  id,
})
