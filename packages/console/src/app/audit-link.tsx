// An icon that leads to the audit entries of an object, for people who may read them.
import './audit-link.css'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Icon } from '../kit/icon.tsx'
import { useCan, useProject } from './project.tsx'

type AuditLinkProps = {
  /** The kind of the object in the audit trail. */
  entity: 'settings' | 'languagePack'
  id: string
  label: string
}

export function AuditLink({ entity, id, label }: AuditLinkProps): ReactNode {
  const { slug } = useProject()
  const canRead = useCan('AUDIT_READ')
  return canRead ? (
    <Link
      to="/p/$project/audit"
      params={{ project: slug }}
      search={{ entity, id } as never}
      className="audit-icon-link"
      aria-label={label}
      title={label}
    >
      <Icon name="audit" size={12} />
    </Link>
  ) : null
}
