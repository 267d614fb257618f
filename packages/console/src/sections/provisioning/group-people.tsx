// The people in a group. Only the identity provider changes them.
import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { useRead } from '../../api/requests.ts'
import { useDebounced } from '../../app/debounced.ts'
import { namePerson } from '../../app/person-name.ts'
import { type ProvisioningMembersResult, provisioningMembersDocument } from '../../generated/documents.ts'
import { Status } from '../../kit/badge.tsx'
import { TwoLines } from '../../kit/data-table.tsx'
import { SearchField } from '../../kit/form.tsx'
import type { PageSize } from '../../kit/page-sizes.ts'
import { Pager } from '../../kit/pager.tsx'
import { Section, SectionRow, SectionText } from '../../kit/section.tsx'
import { FailureState, Skeleton } from '../../kit/state.tsx'
import { Avatar } from '../../kit/values.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'

/** Longer lists have a search field. */
const searchFrom = 10

export function GroupPeople({ groupId }: { groupId: string }): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const [text, setText] = useState('')
  const [page, setPage] = useState(1)
  const [size, setSize] = useState<PageSize>(25)
  const value = useDebounced(text.trim())
  const { data, error, refetch } = useRead(
    provisioningMembersDocument,
    {
      group: groupId,
      filters: value === '' ? [] : [{ field: value.includes('@') ? 'userEmail' : 'userName', value }],
      pagination: { limit: size, offset: (page - 1) * size },
    },
    { keepsPrevious: true },
  )
  const result = data?.members
  if (result === undefined)
    return error === null ? (
      <Skeleton rows={8} />
    ) : (
      <FailureState failure={describeFailure(error)} onRetry={() => void refetch()} />
    )
  return (
    <Section title={t('provisioning.people')} note={number(result.totalCount)}>
      {(result.totalCount > searchFrom || text !== '') && (
        <SearchField
          label={t('members.search')}
          value={text}
          onChange={(next) => {
            setText(next)
            setPage(1)
          }}
          isWide
        />
      )}
      {result.nodes.length === 0 && (
        <SectionText>{value === '' ? t('provisioning.noPeople') : t('members.noMatch')}</SectionText>
      )}
      {result.nodes.map((member) => (
        <PersonRow key={member.id} member={member} />
      ))}
      {result.totalCount > size && (
        <div className="section-pager">
          <Pager
            page={page}
            size={size}
            shown={result.nodes.length}
            total={result.totalCount}
            isTotalExact={result.isTotalExact}
            onPage={setPage}
            onSize={(next) => {
              setSize(next)
              setPage(1)
            }}
          />
        </div>
      )}
    </Section>
  )
}

type Member = ProvisioningMembersResult['members']['nodes'][number]

function PersonRow({ member: { user } }: { member: Member }): ReactNode {
  const t = useText()
  const name = namePerson(user)
  return (
    <SectionRow isTall end={!user.active && <Status kind="off">{t('system.deactivated')}</Status>}>
      <div className="group-person">
        <Avatar name={name} />
        <TwoLines
          first={
            <Link to="/system/users" search={{ open: user.id } as never} title={name}>
              {name}
            </Link>
          }
          second={user.externalEmail}
        />
      </div>
    </SectionRow>
  )
}
