// The memberships of a person in projects, tenants or applications, with links.
import './membership-list.css'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { useRead } from '../../api/requests.ts'
import type { AddressSearch } from '../../app/list-search.ts'
import { TwoLines } from '../../kit/data-table.tsx'
import type { PageSize } from '../../kit/page-sizes.ts'
import { Pager } from '../../kit/pager.tsx'
import { Section, SectionRow, SectionText } from '../../kit/section.tsx'
import { FailureNote, Skeleton } from '../../kit/state.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import { RoleBadges } from './group-badge.tsx'
import { type Kind, type OwnMembership, operations } from './kinds.ts'

type MembershipListProps = {
  kind: Kind
  userId: string
  /** `object` links to the project, tenant or application; `members` links to the person in the list of its members. */
  linkTo: 'object' | 'members'
  /** Shown after the role, such as a button that removes the membership. */
  renderEnd?: (membership: OwnMembership) => ReactNode
}

export function MembershipList({ kind, userId, linkTo, renderEnd }: MembershipListProps): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const [page, setPage] = useState(1)
  const [size, setSize] = useState<PageSize>(25)
  const { data, error, refetch } = useRead(
    operations[kind].listOfPerson,
    { user: userId, pagination: { limit: size, offset: (page - 1) * size } },
    { keepsPrevious: true },
  )
  const result = data?.user.memberships
  return (
    <Section title={t(`members.in.${kind}`)} note={result !== undefined && number(result.totalCount)}>
      {result === undefined && error !== null && (
        <FailureNote failure={describeFailure(error)} onRetry={() => void refetch()} />
      )}
      {result === undefined && error === null && <Skeleton rows={2} />}
      {result?.totalCount === 0 && <SectionText>{t('members.noneOfKind')}</SectionText>}
      {result?.nodes.map((membership) => (
        <SectionRow
          key={membership.id}
          isTall
          end={
            <>
              <RoleBadges membership={membership} />
              {renderEnd?.(membership)}
            </>
          }
        >
          <TwoLines
            first={<MembershipLink kind={kind} membership={membership} userId={userId} linkTo={linkTo} />}
            second={<Place membership={membership} />}
          />
        </SectionRow>
      ))}
      {result !== undefined && result.totalCount > size && (
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

/** Tenants and applications of different projects can have the same name. */
const Place = ({ membership: { object } }: { membership: OwnMembership }): ReactNode => (
  <>
    {object.project !== undefined && <span className="membership-project">{object.project.name} · </span>}
    {object.slug}
  </>
)

type LinkProps = Pick<MembershipListProps, 'kind' | 'userId' | 'linkTo'> & { membership: OwnMembership }

function MembershipLink({ kind, membership: { object }, userId, linkTo }: LinkProps): ReactNode {
  const base = `/p/${object.project?.slug ?? object.slug}`
  const section = { project: 'overview', tenant: 'tenants', application: 'applications' }[kind]
  const ofObject: AddressSearch = kind === 'project' ? {} : { open: object.id }
  const ofMembers: AddressSearch = {
    open: userId,
    ...(kind === 'project' ? {} : { in: kind, [kind]: object.id }),
  }
  return (
    <Link
      to={`${base}/${linkTo === 'members' ? 'members' : section}` as '/'}
      search={(linkTo === 'members' ? ofMembers : ofObject) as never}
      title={object.name}
    >
      {object.name}
    </Link>
  )
}
