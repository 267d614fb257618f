// The system role of a person. Administrators stand out.
import type { ReactNode } from 'react'
import { Badge } from '../../kit/badge.tsx'

export const SystemRole = ({ role }: { role: string }): ReactNode =>
  role === 'administrator' ? <Badge>{role}</Badge> : <span className="muted">{role}</span>
