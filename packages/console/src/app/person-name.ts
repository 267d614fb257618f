/** Returns the name to show for a person, who may have only a user name. */
export const namePerson = (user: { externalName: string; externalUsername: string }): string =>
  user.externalName === '' ? user.externalUsername : user.externalName
