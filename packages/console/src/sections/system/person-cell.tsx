// A person in a table: the name above the e-mail address.
import type { ReactNode } from 'react'
import { TwoLines } from '../../kit/data-table.tsx'
import { Avatar } from '../../kit/values.tsx'
import { useText } from '../../texts/language.tsx'
import { namePerson } from '../../app/person-name.ts'

type PersonCellProps = {
  user: { readonly externalName: string; readonly externalUsername: string; readonly externalEmail: string }
  isSelf: boolean
}

export function PersonCell({ user, isSelf }: PersonCellProps): ReactNode {
  const t = useText()
  const name = namePerson(user)
  return (
    <div className="system-person">
      <Avatar name={name} />
      <TwoLines first={isSelf ? t('members.you', name) : name} second={user.externalEmail} />
    </div>
  )
}
