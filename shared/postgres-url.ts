/** The beginning of a connection string. From other text, PostgreSQL's driver would use a host that the text does not name. */
export const POSTGRES_URL = /^postgres(ql)?:\/\//;
