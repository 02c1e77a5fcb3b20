"""Training data for supervised fine-tuning, from candidates that a benchmark job has scored. Pure: nothing runs here.

rule      what is kept, and how it is written
sameness  when two programs count as one
standing  what a job's runs say about one candidate
choice    which candidates of a problem are kept, and which pairs they make
rows      prompts, and the lines of training files
lineage   where each line comes from, and whether data and lineage still belong together
selection all of it, for a whole batch
"""
