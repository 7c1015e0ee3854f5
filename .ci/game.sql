-- The database that README.md and the articles look into: see .ci/outputs.
CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE player (
    id INTEGER PRIMARY KEY, teamId INTEGER NOT NULL REFERENCES team(id), name TEXT NOT NULL,
    score INTEGER NOT NULL DEFAULT 0);
CREATE INDEX playerByName ON player(name);
CREATE INDEX playerByNameAndScore ON player(name, score);
INSERT INTO team VALUES (1, 'Reds'), (2, 'Blues');
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1200)
INSERT INTO player SELECT i, i % 2 + 1, 'Player ' || i, i * 37 % 1000 FROM n;
