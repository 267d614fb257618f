/** The two deactivations of a person; each is null while it is not in effect. */
export type Deactivations = {
  deactivatedByScimAt: string | null
  deactivatedByAdministratorAt: string | null
}

/** Whether the person may use the Manager. `buildIsActiveSql` is the same rule in SQL. */
export const isActive = (user: Deactivations): boolean =>
  user.deactivatedByScimAt === null && user.deactivatedByAdministratorAt === null
